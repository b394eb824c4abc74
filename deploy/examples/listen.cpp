// Prints what jointwatch says, and what was missed. On Debian:
//     sudo apt-get install g++ cppzmq-dev libmsgpack-cxx-dev
//     g++ -std=c++17 -O2 -DMSGPACK_NO_BOOST listen.cpp -lzmq -o listen
//     ./listen [--endpoint tcp://127.0.0.1:5556] [--topic estimate/] [--count 20]
//     ./listen --endpoint tcp://10.0.0.7:5556 --key me.key_secret --server-key server.key
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <msgpack.hpp>
#include <zmq.hpp>

using Map = std::map<std::string, msgpack::object>;

// The value of `name = "…"` in a key file.
std::string key(const std::string& file, const std::string& name) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  const auto at = text.str().find(name + " = \"");
  if (!stream || at == std::string::npos) throw std::runtime_error(file + ": no " + name + " in it");
  return text.str().substr(at + name.size() + 4, 40);
}

int main(int argc, char** argv) try {
  std::map<std::string, std::string> options{
      {"--endpoint", "tcp://127.0.0.1:5556"}, {"--topic", "estimate/"}, {"--count", "0"}, {"--key", ""}, {"--server-key", ""}};
  for (int at = 1; at < argc; at += 2) {
    if (!options.count(argv[at]) || at + 1 == argc) {
      std::fprintf(stderr, "usage: listen [--endpoint E] [--topic T] [--count N] [--key FILE --server-key FILE]\n");
      return 2;
    }
    options[argv[at]] = argv[at + 1];
  }
  const std::string endpoint = options["--endpoint"];
  long left = std::atol(options["--count"].c_str());
  if (left == 0) left = -1;

  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::sub);
  socket.set(zmq::sockopt::subscribe, options["--topic"]);
  socket.set(zmq::sockopt::rcvtimeo, 10000);  // ms
  if (!options["--key"].empty()) {
    socket.set(zmq::sockopt::curve_publickey, key(options["--key"], "public-key"));
    socket.set(zmq::sockopt::curve_secretkey, key(options["--key"], "secret-key"));
    socket.set(zmq::sockopt::curve_serverkey, key(options["--server-key"], "public-key"));
  }
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
