import { accountsIn, type BlockRequest, contentsOf, quantity, requestsFor } from "./blockContents.ts";
import { memberOf } from "./differingPlaces.ts";
import type { Endpoint, RpcAnswer } from "./endpoint.ts";
import {
  type Answers,
  compareAnswers,
  type Finding,
  NO_BLOCK,
  NO_STATE,
  type Roles,
  type Side,
  sideWithoutAnswer,
} from "./findings.ts";
import { isNull } from "./firstBlock.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import type { MethodTemplate } from "./methodTemplates.ts";

interface BlockComparison {
  readonly ours: Endpoint;
  readonly theirs: Endpoint;
  readonly roles: Roles;
  /** The methods that both nodes have. */
  templates(): readonly MethodTemplate[];
  onFinding(number: bigint, request: BlockRequest, answers: Answers, finding: Finding): void;
  onLeftOut(requests: number): void;
  /** True for a block so new that a node may have it before its receipts and indexes are available. */
  isNew(number: bigint): boolean;
  sleep(milliseconds: number): Promise<void>;
}

/**
 * Compares a block with its transactions, its receipts, and the answers to the templates' requests. Returns which of the
 * nodes does not have the block, if one does not: the caller waits, because a node that is behind is not wrong. When the
 * block's hashes differ, nothing else is requested, because everything else would differ as well.
 */
export async function compareBlock(number: bigint, parts: BlockComparison): Promise<Side | undefined> {
  const request = { method: "eth_getBlockByNumber", params: [quantity(number), true] };
  const [answers] = await askBoth([request], parts);
  if (answers === undefined || isNull(answers.ours)) return "ours";
  if (isNull(answers.theirs)) return "theirs";
  await report(number, request, answers, parts);
  const [block, theirs] = [resultOf(answers.ours), resultOf(answers.theirs)];
  if (block === undefined || memberOf(block, "hash") !== memberOf(theirs, "hash")) return undefined;
  const contents = contentsOf(number, block);
  const receipts = await compareAll(
    number,
    contents.transactions.map((values, transactionIndex) => ({
      method: "eth_getTransactionReceipt",
      params: [values["{transaction}"]],
      transactionIndex,
    })),
    parts,
  );
  const { requests, leftOut } = requestsFor(parts.templates(), contents, accountsIn(block, receipts));
  parts.onLeftOut(leftOut);
  await compareAll(number, requests, parts);
  return undefined;
}

/** Compares all answers and returns our node's, batch by batch, so that no more than one batch is held for each node. */
async function compareAll(
  number: bigint,
  requests: readonly BlockRequest[],
  parts: BlockComparison,
): Promise<readonly RpcAnswer[]> {
  const ours: RpcAnswer[] = [];
  for (let from = 0; from < requests.length; from += COMPARE_LIMITS.batchRequests) {
    const batch = requests.slice(from, from + COMPARE_LIMITS.batchRequests);
    for (const [index, answers] of (await askBoth(batch, parts)).entries()) {
      const request = batch[index];
      if (request === undefined) continue;
      const settled = parts.isNew(number) ? await askAgainIfBehind(request, answers, parts) : answers;
      await report(number, request, settled, parts);
      if (request.method === "eth_getTransactionReceipt") ours.push(settled.ours);
    }
  }
  return ours;
}

async function askBoth(
  requests: readonly BlockRequest[],
  parts: BlockComparison,
): Promise<readonly Answers[]> {
  const bare = requests.map(({ method, params }) => ({ method, params }));
  const [ours, theirs] = await Promise.all([parts.ours.ask(bare), parts.theirs.ask(bare)]);
  return requests.map((_, index) => ({
    ours: ours[index] ?? NO_ANSWER,
    theirs: theirs[index] ?? NO_ANSWER,
  }));
}

const NO_ANSWER: RpcAnswer = { kind: "unread", reason: "there is no answer" };

async function askAgainIfBehind(
  request: BlockRequest,
  answers: Answers,
  parts: BlockComparison,
): Promise<Answers> {
  let latest = answers;
  for (let tries = 0; tries < COMPARE_LIMITS.askedAgain; tries++) {
    const finding = compareAnswers(request, latest, parts.roles, request.transactionIndex);
    if (finding.kind !== "different" || sideWithoutAnswer(latest) === undefined) break;
    await parts.sleep(COMPARE_LIMITS.pollMs);
    const [again] = await askBoth([request], parts);
    latest = again ?? latest;
  }
  return latest;
}

async function report(
  number: bigint,
  request: BlockRequest,
  answers: Answers,
  parts: BlockComparison,
): Promise<void> {
  const found = compareAnswers(request, answers, parts.roles, request.transactionIndex);
  const lacking = found.kind === "different" ? await lackOf(number, request, answers, parts) : undefined;
  parts.onFinding(number, request, answers, lacking ?? found);
}

/** Why only one node has no answer, if it no longer has the block, or the state that the answer depends on. */
async function lackOf(
  number: bigint,
  { method }: BlockRequest,
  answers: Answers,
  parts: BlockComparison,
): Promise<Finding | undefined> {
  const side = sideWithoutAnswer(answers);
  if (side === undefined) return undefined;
  const before = quantity(number === 0n ? 0n : number - 1n);
  const [block, balance] = await parts[side].ask([
    { method: "eth_getBlockByNumber", params: [quantity(number), false] },
    { method: "eth_getBalance", params: [NOBODY, before] },
  ]);
  if (block !== undefined && isNull(block)) return { kind: "notCompared", reason: NO_BLOCK, side };
  if (balance !== undefined && isNull(balance) && FOLLOWS_FROM_STATE.test(method))
    return { kind: "notCompared", reason: NO_STATE, side };
  return undefined;
}

const NOBODY = `0x${"0".repeat(40)}`;
/** Methods that depend on the state: each node returns a value for every account, or null when it lacks the state. */
const FOLLOWS_FROM_STATE = /^(eth_call|eth_estimateGas|eth_createAccessList|debug_trace|trace_)/;

function resultOf(answer: RpcAnswer): unknown {
  return answer.kind === "answer" && answer.error === undefined ? answer.result : undefined;
}
