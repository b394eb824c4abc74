// The live connection: one MessagePack map per tick over a WebSocket, reconnected for as long as the page is open.

const SILENCE = 5000; // ms without a message (the outlet sends at least one a second) after which the connection is dead
const FIRST_PAUSE = 250, LONGEST_PAUSE = 2000; // ms between attempts

// returns a function that tells the service which joint's raw channels this page wants (null: none); it is asked again
// after every reconnection
export function connect(onMessage, onState) {
  let pause = FIRST_PAUSE, wanted = null, current = null;
  const tell = () => { if (current?.readyState === WebSocket.OPEN) current.send(JSON.stringify({ channels: wanted })); };
  let watchdog = 0;
  const open = () => {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
    current = socket;
    socket.binaryType = "arraybuffer";
    const listen = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => socket.close(), SILENCE);
    };
    socket.onopen = () => { pause = FIRST_PAUSE; listen(); onState(true); if (wanted !== null) tell(); };
    socket.onmessage = (event) => { listen(); onMessage(decode(event.data)); };
    socket.onclose = () => {
      clearTimeout(watchdog);
      onState(false);
      setTimeout(open, pause);
      pause = Math.min(1.5 * pause, LONGEST_PAUSE);
    };
  };
  open();
  return (joint) => { if (joint !== wanted) { wanted = joint; tell(); } };
}

// MessagePack as the outlet writes it (https://github.com/msgpack/msgpack/blob/master/spec.md); no extension types.
export function decode(buffer) {
  const view = new DataView(buffer);
  const text = new TextDecoder();
  let at = 0;
  const step = (size) => { at += size; return at - size; };
  const string = (size) => text.decode(new Uint8Array(buffer, step(size), size));
  const binary = (size) => buffer.slice(step(size), at);
  const array = (size) => Array.from({ length: size }, value);
  const map = (size) => {
    const result = {};
    for (let i = 0; i < size; i++) { const key = value(); result[key] = value(); }
    return result;
  };
  const u8 = () => view.getUint8(step(1)), u16 = () => view.getUint16(step(2)), u32 = () => view.getUint32(step(4));
  const readers = {
    0xc0: () => null, 0xc2: () => false, 0xc3: () => true,
    0xc4: () => binary(u8()), 0xc5: () => binary(u16()), 0xc6: () => binary(u32()),
    0xca: () => view.getFloat32(step(4)), 0xcb: () => view.getFloat64(step(8)),
    0xcc: u8, 0xcd: u16, 0xce: u32, 0xcf: () => Number(view.getBigUint64(step(8))),
    0xd0: () => view.getInt8(step(1)), 0xd1: () => view.getInt16(step(2)),
    0xd2: () => view.getInt32(step(4)), 0xd3: () => Number(view.getBigInt64(step(8))),
    0xd9: () => string(u8()), 0xda: () => string(u16()), 0xdb: () => string(u32()),
    0xdc: () => array(u16()), 0xdd: () => array(u32()), 0xde: () => map(u16()), 0xdf: () => map(u32()),
  };
  function value() {
    const tag = u8();
    if (tag < 0x80) return tag;
    if (tag < 0x90) return map(tag & 0x0f);
    if (tag < 0xa0) return array(tag & 0x0f);
    if (tag < 0xc0) return string(tag & 0x1f);
    if (tag >= 0xe0) return tag - 0x100;
    const read = readers[tag];
    if (!read) throw new Error(`MessagePack tag 0x${tag.toString(16)} is not used here`);
    return read();
  }
  return value();
}
