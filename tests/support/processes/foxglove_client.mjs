// A client of Foxglove's WebSocket protocol in Node alone: prints the first message of a topic as JSON, then ends.
//     node --experimental-websocket foxglove_client.mjs ws://127.0.0.1:8765 estimate/elbow
const [address, topic] = process.argv.slice(2);
const socket = new WebSocket(address, ["foxglove.websocket.v1"]);
socket.binaryType = "arraybuffer";
const found = { protocol: "", ops: [] };
socket.onopen = () => { found.protocol = socket.protocol; };
socket.onerror = (event) => { console.error(String(event.message ?? event.type)); process.exit(1); };
socket.onmessage = ({ data }) => {
  if (typeof data === "string") {
    const told = JSON.parse(data);
    found.ops.push(told.op);
    const channel = (told.channels ?? []).find((one) => one.topic === topic);
    if (channel) socket.send(JSON.stringify({ op: "subscribe", subscriptions: [{ id: 7, channelId: channel.id }] }));
    return;
  }
  const view = new DataView(data);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 13)));
  const head = { opcode: view.getUint8(0), subscription: view.getUint32(1, true), ns: String(view.getBigUint64(5, true)) };
  console.log(JSON.stringify({ ...found, ...head, message }));
  socket.close();
};
