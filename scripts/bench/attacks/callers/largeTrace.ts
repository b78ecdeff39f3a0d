import { pause } from "../../pause.ts";
import { type AttackedNode, type CallerAttack, connectFrom, httpRequest, untilOver } from "./callerAttack.ts";

/** PUSH1 and JUMPDEST in a loop until the gas is spent: a trace of 141 MB. */
const CALL = { data: "0x5b5a600056", gas: "0xf4240" };

/** A prompt reader asks for traces of 141 MB one after the other, and four others ask for them and read nothing. */
export const largeTrace: CallerAttack = {
  name: "traces of 141 MB, read and unread",
  options: ["--rpc-http-api=ETH,DEBUG"],
  prepare: async (node) => {
    const request = httpRequest("debug_traceCall", [CALL, "latest"]);
    return async (isOver) => {
      const unread = Array.from({ length: 4 }, (_, index) =>
        keepUnread(node, `127.0.0.${3 + index}`, request, isOver),
      );
      await Promise.all([keepReading(node, request, isOver), ...unread]);
    };
  },
};

async function keepReading(
  { port, tally }: AttackedNode,
  request: string,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const beganMs = performance.now();
    const bytes = await readToEnd(port, request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"), isOver);
    const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
    tally.note(`read ${Math.round(bytes / 1e6)} MB in ${seconds} s${isOver() ? ", at the end" : ""}`);
  }
}

function readToEnd(port: number, request: string, isOver: () => boolean): Promise<number> {
  return new Promise((resolve) => {
    const socket = connectFrom("127.0.0.2", port);
    let bytes = 0;
    socket.on("data", (data) => {
      bytes += data.length;
    });
    void untilOver(isOver).then(() => socket.destroy());
    socket.once("close", () => resolve(bytes));
    socket.write(request);
  });
}

async function keepUnread(
  { port, tally }: AttackedNode,
  from: string,
  request: string,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const socket = connectFrom(from, port);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write(request);
    while (!isOver() && !socket.destroyed) await Promise.race([closed, pause(100)]);
    if (!isOver()) tally.note("unread connections cut");
    socket.destroy();
  }
}
