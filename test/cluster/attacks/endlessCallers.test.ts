import { Agent, request } from "node:http";
import { connect } from "node:net";
import { expect } from "vitest";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";

const CALLERS = 10;
/** JUMPDEST, PUSH1 and JUMP in a loop, which ends at the time limit: 5 s for a call, 60 s for a trace. */
const ENDLESS = { data: "0x5b600056", gas: "0x7fffffffffffffff" };
/** Init code that returns nothing, which does not run inline. */
const SMALL = { data: "0x5f5ff3" };
const SMALL_REQUESTS = 100;
/** One for three small ones: before there were turns by time, four ended while one small call waited. */
const MOST_ENDED = SMALL_REQUESTS / 3;

const messageOf = (method: string, params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

const ENDLESS_REQUESTS = [
  messageOf("eth_call", [ENDLESS, "latest"]),
  messageOf("debug_traceCall", [ENDLESS, "latest", { disableStack: true, disableStorage: true }]),
];
const SMALL_KINDS = [
  messageOf("eth_call", [SMALL, "latest"]),
  messageOf("eth_estimateGas", [SMALL]),
  messageOf("debug_traceCall", [SMALL, "latest"]),
];

/** Sends the request again whenever it is answered. Returns a function that ends the connection. */
function keepAsking(
  { httpPort }: NodeProcess,
  localAddress: string,
  message: string,
  onAnswer: () => void,
): () => void {
  const text = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${message.length}\r\n\r\n${message}`;
  const socket = connect({ host: "127.0.0.1", port: httpPort, localAddress });
  socket.on("error", () => undefined);
  socket.on("data", (data) => {
    if (!data.includes("HTTP/1.1")) return;
    onAnswer();
    socket.write(text);
  });
  socket.write(text);
  return () => socket.destroy();
}

function ask({ httpPort: port }: NodeProcess, agent: Agent, message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, method: "POST", agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve(text));
    });
    outgoing.on("error", reject);
    outgoing.end(message);
  });
}

itIfThorough.each([
  ["of ten addresses", (at: number) => `127.0.0.${2 + at}`],
  ["of one address, as behind one proxy", () => "127.0.0.1"],
])("a hundred small calls, estimates and traces do not wait for endless ones %s", async (_, addressOf) => {
  const node = await startNodeProcess({ options: ["--rpc-http-api=ETH,DEBUG"] });
  let ended = 0;
  const onAnswer = (): void => {
    ended++;
  };
  const cuts = Array.from({ length: CALLERS }, (_caller, at) =>
    ENDLESS_REQUESTS.map((message) => keepAsking(node, addressOf(at), message, onAnswer)),
  ).flat();
  await until(async () => (ended > 0 ? true : undefined), "the end of an endless call");
  const endedBefore = ended;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; count < SMALL_REQUESTS; count++) {
    const answer = await ask(node, agent, SMALL_KINDS[count % SMALL_KINDS.length] ?? "");
    expect(answer).toContain('"result"');
  }
  expect(ended - endedBefore).toBeLessThan(MOST_ENDED);
  agent.destroy();
  for (const cut of cuts) cut();
  expect(await node.stop()).toBe(0);
});
