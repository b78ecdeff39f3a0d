import { type Hex, toHex } from "viem";
import type { Answer, createComparison } from "./answerComparison.ts";
import { type NodeProcess, pause, until } from "./nodeProcess.ts";

/** Block hashes by number, of each node. */
export type BlockHashes = Readonly<Record<"ours" | "theirs", readonly Hex[]>>;

type Normalise = Parameters<typeof createComparison>[3];

/** Answers in the one form in which those of this node and of anvil can be compared. */
export function comparableAnswers(hashesOf: BlockHashes): Normalise {
  return normalisePrestates(numberingBlocks(hashesOf));
}

/** The head after the block in progress is finished. */
export async function finishedHead(node: NodeProcess): Promise<number> {
  const head = () => node.rpc<Hex>("eth_blockNumber");
  const resting = async () => {
    const before = await head();
    await pause(1500);
    return before === (await head()) ? Number(before) : undefined;
  };
  return until(resting, "the end of mining");
}

export async function blockHashes(
  node: Pick<NodeProcess, "rpc">,
  headNumber: number,
): Promise<readonly Hex[]> {
  const numbers = Array.from({ length: headNumber + 1 }, (_, number) => toHex(number));
  const blocks = numbers.map((number) => node.rpc<{ hash: Hex }>("eth_getBlockByNumber", [number, false]));
  return (await Promise.all(blocks)).map(({ hash }) => hash);
}

/** Replaces block hashes, which depend on each chain's own consensus, by the number of the block. */
function numberingBlocks(hashesOf: BlockHashes) {
  return (answer: Answer, whose: "ours" | "theirs", label: string): unknown =>
    JSON.parse(JSON.stringify(canonicalForm(answer, label)), (_, value) => {
      const number = hashesOf[whose].indexOf(value);
      return number < 0 ? value : `hash of block ${number}`;
    });
}

/** Sorts lists whose order has no meaning; reduces struct logs to what both nodes show of a step, in one format. */
function canonicalForm(answer: Answer, label: string): Answer {
  const { result } = answer;
  if (label.startsWith("eth_createAccessList") && result !== undefined) {
    const { accessList, gasUsed } = result as { accessList: AccessListEntry[]; gasUsed: Hex };
    const sorted = accessList
      .map(({ address, storageKeys }) => ({ address, storageKeys: storageKeys.toSorted() }))
      .toSorted((one, other) => one.address.localeCompare(other.address));
    return { result: { gasUsed, accessList: sorted } };
  }
  if (label.startsWith("eth_getProof") && result !== undefined) {
    const proof = result as { storageProof: { key: Hex }[] };
    const storageProof = proof.storageProof
      .map((entry) => ({ ...entry, key: toHex(BigInt(entry.key === "0x" ? "0x0" : entry.key)) }))
      .toSorted((one, other) => (BigInt(one.key) < BigInt(other.key) ? -1 : 1));
    return { result: { ...proof, storageProof } };
  }
  if (label === "debug_traceTransaction structLogs") {
    const trace = result as { returnValue: string; structLogs: StructLog[] };
    const returnValue = trace.returnValue.replace("0x", "");
    return { result: { ...trace, returnValue, structLogs: trace.structLogs.map(stepOf) } };
  }
  if (label === "debug_traceTransaction prestateTracer") {
    // One omits accounts that the transaction creates, the other shows them as empty.
    const accounts = Object.entries(result as Record<string, { balance: Hex; nonce?: number; code?: Hex }>);
    const existing = accounts.filter(([, { balance, nonce, code }]) => balance !== "0x0" || nonce || code);
    return { result: Object.fromEntries(existing) };
  }
  return answer;
}

/** The costs of calls and of a halting step differ: Besu includes the gas passed to the callee, and the full cost. */
function stepOf(
  { pc, op, gas, gasCost: cost, depth, stack }: StructLog,
  index: number,
  all: readonly StructLog[],
) {
  const next = all[index + 1];
  const isBound = /CALL|CREATE/.test(op) || next === undefined || next.depth < depth;
  const gasCost = isBound ? "not compared" : cost;
  return {
    pc,
    op,
    gas,
    gasCost,
    depth,
    stack: stack?.map((item) => toHex(BigInt(`0x${item.replace("0x", "")}`))),
  };
}

interface AccessListEntry {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

interface StructLog {
  readonly pc: number;
  readonly op: string;
  readonly gas: number;
  readonly gasCost: number;
  readonly depth: number;
  readonly stack: readonly string[] | null;
}

/** anvil's prestateTracer matches go-ethereum before 1.16: without code hashes, and with empty accounts. */
function normalisePrestates(normalise: Normalise): Normalise {
  return (answer, whose, label) => {
    const shown = normalise(answer, whose, label);
    if (!label.includes("prestateTracer")) return shown;
    return JSON.parse(JSON.stringify(shown), (_, value: unknown) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      const members = Object.entries(value as Record<string, unknown>).filter(
        ([name]) => name !== "codeHash",
      );
      return Object.fromEntries(members.filter(([, member]) => JSON.stringify(member) !== NOTHING));
    });
  };
}

const NOTHING = JSON.stringify({ balance: "0x0" });
