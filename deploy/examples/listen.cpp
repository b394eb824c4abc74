// Prints what jointwatch says, and what was missed. On Debian:
//     sudo apt-get install g++ cppzmq-dev libmsgpack-cxx-dev
//     g++ -std=c++17 -O2 -DMSGPACK_NO_BOOST listen.cpp -lzmq -o listen
//     ./listen [ENDPOINT [TOPIC [COUNT]]]          e.g. ./listen tcp://127.0.0.1:5556 estimate/ 20
// Where the stream is locked, set the keys before connect:
//     socket.set(zmq::sockopt::curve_serverkey, "…");  // public-key of server.key
//     socket.set(zmq::sockopt::curve_publickey, "…");  // of your own .key_secret
//     socket.set(zmq::sockopt::curve_secretkey, "…");
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include <msgpack.hpp>
#include <zmq.hpp>

using Map = std::map<std::string, msgpack::object>;

int main(int argc, char** argv) try {
  const std::string endpoint = argc > 1 ? argv[1] : "tcp://127.0.0.1:5556";
  const std::string prefix = argc > 2 ? argv[2] : "estimate/";
  long left = argc > 3 ? std::atol(argv[3]) : -1;

  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::sub);
  socket.set(zmq::sockopt::subscribe, prefix);
  socket.set(zmq::sockopt::rcvtimeo, 10000);  // ms
  socket.connect(endpoint);

  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> last;  // topic -> boot, seq
  while (left != 0) {
    zmq::message_t topic, payload;
    if (!socket.recv(topic) || !socket.recv(payload)) {
      std::fprintf(stderr, "nothing from %s for 10 s: is jointwatch running?\n", endpoint.c_str());
      return 1;
    }
    const auto unpacked = msgpack::unpack(payload.data<char>(), payload.size());
    const Map update = unpacked.get().as<Map>();
    const auto boot = update.at("boot").as<std::uint64_t>(), seq = update.at("seq").as<std::uint64_t>();
    const auto name = topic.to_string();
    const auto before = last.find(name);
    if (before != last.end() && before->second.first == boot) {
      if (seq <= before->second.second) continue;  // sent again for someone who has just joined
      if (const auto missed = seq - before->second.second - 1)
        std::printf("%s: %llu missed\n", name.c_str(), static_cast<unsigned long long>(missed));
    }
    last[name] = {boot, seq};
    --left;

    std::printf("%s at %.3f", name.c_str(), update.at("timestamp").as<double>());
    if (update.count("parameters")) {
      const auto deviations = update.at("deviations").as<std::map<std::string, double>>();
      std::printf(" %s:", update.at("phase").as<std::string>().c_str());
      for (const auto& [parameter, value] : update.at("parameters").as<std::map<std::string, double>>())
        std::printf("  %s %.4g ± %.2g", parameter.c_str(), value, deviations.at(parameter));
    } else if (update.count("text")) {
      std::printf(" %s: %s", update.at("kind").as<std::string>().c_str(), update.at("text").as<std::string>().c_str());
    }
    std::printf("\n");
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
