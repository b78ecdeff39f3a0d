import type { Hex } from "viem";
import { pause } from "../../pause.ts";
import { accounts, signDraft } from "../../workload.ts";
import { type AttackedNode, type CallerAttack, untilOver } from "./callerAttack.ts";

const MIB = 1024 ** 2;
/** One more is above what a block takes of one transaction. */
const LOGS = 7;
const GAS = 70_000_000n;

/** Ten senders fill blocks with transactions of 7 MiB of logs. */
export const logBlocks: CallerAttack = {
  name: "blocks full of logs",
  prepare: async (node) => (isOver) => keepSending(node, emit(LOGS, MIB), GAS, isOver),
};

/** Ten senders write 19,000 new slots a transaction, and one 200,000. */
export const slotBlocks: CallerAttack = {
  name: "19,000 and 200,000 new slots with a gas limit of 2^53",
  genesis: { gasLimit: "0x1fffffffffffff" },
  prepare: async (node) => async (isOver) => {
    await send(node, 0, write(200_000), 10_000_000_000n);
    await keepSending(node, write(19_000), 1_000_000_000n, isOver);
  },
};

/** Each of ten senders sends its next transaction when the last one was mined or dropped. */
async function keepSending(
  node: AttackedNode,
  data: Hex,
  gasLimit: bigint,
  isOver: () => boolean,
): Promise<void> {
  await Promise.all(
    accounts.map(async (_, sender) => {
      while (!isOver()) {
        const hash = await send(node, sender, data, gasLimit);
        while (hash !== undefined && !isOver() && !(await isGone(node, hash))) await pause(500);
        if (hash === undefined) await pause(500);
      }
    }),
  );
}

/** A block may have any amount of gas, which one log of 100 MB and many of 20 MB use. */
export const hugeLogs: CallerAttack = {
  name: "logs of 100 MB and of 20 MB with a gas limit of 2^53",
  genesis: { gasLimit: "0x1fffffffffffff" },
  prepare: async (node) => async (isOver) => {
    await send(node, 0, emit(1, 100_000_000), 25_000_000_000n);
    await Promise.all(
      accounts.slice(1).map(async (_, index) => {
        for (let sent = 0; sent < TRANSACTIONS_OF_EACH_SENDER && !isOver(); sent++)
          await send(node, 1 + index, emit(1, 20_000_000), 1_000_000_000n);
      }),
    );
    await untilOver(isOver);
  },
};

const TRANSACTIONS_OF_EACH_SENDER = 7;

/** Init code with so many LOG0 of so many bytes. */
function emit(logs: number, bytes: number): Hex {
  return `0x${`63${bytes.toString(16).padStart(8, "0")}5fa0`.repeat(logs)}`;
}

/** Init code that writes so many slots: the count; JUMPDEST; SSTORE of NUMBER; subtract 1; jump back unless 0. */
function write(slots: number): Hex {
  return `0x62${slots.toString(16).padStart(6, "0")}5b438155600190038060045700`;
}

/** Returns the hash, or nothing when the node refuses it. */
async function send(
  { client, tally }: AttackedNode,
  sender: number,
  data: Hex,
  gasLimit: bigint,
): Promise<Hex | undefined> {
  const account = accounts[sender];
  if (account === undefined) throw new Error("no such sender");
  try {
    const nonce = Number(await client.call<string>("eth_getTransactionCount", [account.address, "pending"]));
    const raw = signDraft({ data, gasLimit }, nonce, account.privateKey);
    const hash = await client.call<Hex>("eth_sendRawTransaction", [raw]);
    tally.note("transactions taken");
    return hash;
  } catch (error) {
    tally.note(String(error instanceof Error ? error.message : error));
    return undefined;
  }
}

/** Whether it was mined or dropped. */
async function isGone({ client, tally }: AttackedNode, hash: Hex): Promise<boolean> {
  const found = await client.call<{ readonly blockNumber: string | null } | null>(
    "eth_getTransactionByHash",
    [hash],
  );
  if (found !== null && found.blockNumber === null) return false;
  tally.note(found === null ? "transactions dropped" : "transactions mined");
  return true;
}
