import { concat, type Hex, pad, toHex } from "viem";
import { mined } from "../../commonCalls.ts";
import { accounts, signDraft } from "../../workload.ts";
import { type AttackedNode, type CallerAttack, httpRequest, keepAsking } from "./callerAttack.ts";

const CALLERS = 10;
const BLOCKS = 16;
const LOGS_A_BLOCK = 10_000;
const ONE = pad("0x01");
const OTHER = pad("0x02");

/**
 * Ten addresses search for logs with two topics in the wrong order, which the blooms of blocks with 160,000 logs cannot exclude, so
 * that all of these are read, while small searches are timed.
 */
export const endlessSearches: CallerAttack = {
  name: "log searches of ten addresses",
  options: ["--rpc-http-api=ETH"],
  honestCalls: {
    periodMs: 100,
    calls: [
      ["eth_getLogs", [{ fromBlock: "latest", toBlock: "latest" }]],
      ["eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest", topics: [pad("0x03")] }]],
    ],
  },
  async prepare(node) {
    for (let block = 0; block < BLOCKS; block++) await emitLogs(node, block);
    const criteria = { fromBlock: "0x0", toBlock: "latest", topics: [OTHER, ONE] };
    const request = httpRequest("eth_getLogs", [criteria]);
    return async (isOver) => {
      await Promise.all(
        Array.from({ length: CALLERS }, (_, at) =>
          keepAsking(node, `127.0.0.${2 + at}`, () => request, isOver),
        ),
      );
    };
  },
};

/** Init code that counts down, with a LOG2 in each round. */
async function emitLogs({ client }: AttackedNode, nonce: number): Promise<void> {
  const [account] = accounts;
  if (account === undefined) throw new Error("no account");
  const count: Hex = toHex(LOGS_A_BLOCK, { size: 3 });
  // PUSH3 count; JUMPDEST, PUSH1 2, PUSH1 1, PUSH0, PUSH0, LOG2; PUSH1 1, SWAP1, SUB, DUP1, PUSH1 4, JUMPI
  const data = concat(["0x62", count, "0x5b", "0x6002", "0x6001", "0x5f5f", "0xa2", "0x6001900380600457"]);
  const raw = signDraft({ data, gasLimit: 60_000_000n }, nonce, account.privateKey);
  await mined(client, await client.call<string>("eth_sendRawTransaction", [raw]));
}
