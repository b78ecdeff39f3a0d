import { BlockSession } from "../../../src/execution/blockSession.ts";
import { executeTransaction } from "../../../src/execution/executeTransaction.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import type { Log } from "../../../src/types/log.ts";
import { encodeBodyTransaction } from "../../../src/types/transaction.ts";
import { worldOf } from "../../conformance/suites/preState.ts";
import { contextOf } from "../../conformance/suites/stateTest.ts";
import { forkOfVector } from "../../conformance/suites/vectorForks.ts";
import { CONFIG, type Path, sessionOn, transactionOf } from "./executor.ts";
import type { BlockReceipt, BlockResult } from "./goEthereum.ts";
import type { ProgramTransaction, StateTestProgram } from "./stateTestProgram.ts";

/** Several transactions one after another on the state of a program, all by its sender. */
export interface BlockProgram {
  readonly program: StateTestProgram;
  readonly transactions: readonly { readonly fields: ProgramTransaction; readonly gasLimit: bigint }[];
}

/** What came of a block, and its transactions as a block body has them. */
export interface ExecutedBlock {
  readonly bodies: readonly Uint8Array[];
  readonly result: BlockResult;
}

/**
 * Executes all of them in one session, as the blocks of a chain are: what a transaction leaves there, or in pooled parts
 * of the interpreter, is seen by the next. A refused transaction's nonce is that of the next.
 */
export async function executeBlockProgram(
  { program, transactions }: BlockProgram,
  path: Path,
): Promise<ExecutedBlock> {
  const world = await worldOf(program.pre);
  const overlay = world.overlay();
  const rules = rulesOf(forkOfVector(program.fork));
  const block = contextOf(program.env, program.fork);
  const session = sessionOn(
    new BlockSession({ config: CONFIG, rules, block, overlay, yieldPolicy: NEVER_YIELD }),
    path,
  );
  const bodies: Uint8Array[] = [];
  const receipts: BlockReceipt[] = [];
  const rejected: number[] = [];
  for (const [index, { fields, gasLimit }] of transactions.entries()) {
    const sent = transactionOf({ ...fields, nonce: `0x${receipts.length.toString(16)}` }, gasLimit);
    bodies.push(encodeBodyTransaction(sent));
    overlay.beginTransaction();
    const executed = await executeTransaction(session, sent);
    if (!executed.ok) {
      rejected.push(index);
      continue;
    }
    const { gasUsed, outcome, logs } = executed.value;
    receipts.push({ gasUsed, hasSucceeded: outcome.kind === "succeeded", logs: logs.map(textOf).join("\n") });
  }
  const root = toHex(world.stage(overlay.changes(), 1n).root);
  return { bodies, result: { root, receipts, rejected } };
}

function textOf({ address, topics, data }: Log): string {
  return [address, ...topics, data].map(toHex).join(" ");
}

/** The first difference between a block's results, in its order. */
export function blockDifference(
  ours: BlockResult,
  theirs: BlockResult,
  hasStatus: boolean,
): string | undefined {
  if (ours.rejected.join() !== theirs.rejected.join())
    return `refused are ${ours.rejected.join()}, there ${theirs.rejected.join()}`;
  for (const [index, { gasUsed, hasSucceeded, logs }] of ours.receipts.entries()) {
    const other = theirs.receipts[index];
    if (gasUsed !== other?.gasUsed) return `receipt ${index}: gas ${gasUsed}, there ${other?.gasUsed}`;
    if (hasStatus && hasSucceeded !== other.hasSucceeded)
      return `receipt ${index}: success ${hasSucceeded}, there ${other.hasSucceeded}`;
    if (logs !== other.logs) return `receipt ${index}: logs ${logs}, there ${other.logs}`;
  }
  return ours.root === theirs.root ? undefined : `state root ${ours.root}, there ${theirs.root}`;
}
