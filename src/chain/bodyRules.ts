import { equalBytes, toHex } from "../primitives/hex.ts";
import type { Pacer } from "../primitives/pacer.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { inSteps } from "../primitives/steps.ts";
import type { Block } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import { rootOfReceiptsInSteps, rootOfTransactionsInSteps } from "../types/listRoot.ts";
import type { Receipt } from "../types/receipt.ts";

export type BodyErrorCode =
  | "wrongTransactionsRoot"
  | "ommersNotEmpty"
  | "withdrawalsNotEmpty"
  | "wrongGasUsed"
  | "wrongReceiptsRoot"
  | "wrongLogsBloom"
  | "wrongStateRoot";

/**
 * Checks a body before anything is executed. Besu does not check withdrawals (ibft2.md#body) and credits them from Shanghai
 * on. No IBFT header commits to withdrawals, so a non-empty list must have been added by a peer.
 */
export async function checkBody(block: Block, pacer: Pacer): Promise<Result<void, BodyErrorCode>> {
  if (block.ommers.length > 0)
    return fail("peer", "ommersNotEmpty", `${block.ommers.length} ommers in an IBFT block`);
  if (block.withdrawals !== undefined && block.withdrawals.length > 0)
    return fail("peer", "withdrawalsNotEmpty", `${block.withdrawals.length} withdrawals in an IBFT block`);
  const root = await inSteps(rootOfTransactionsInSteps(block.transactions), pacer);
  return (
    sameRoot("wrongTransactionsRoot", "transactions root", block.header.transactionsRoot, root) ??
    ok(undefined)
  );
}

/** The result of executing a block, to be compared with its header. */
interface ExecutionSummary {
  readonly gasUsed: bigint;
  readonly receipts: readonly Receipt[];
  readonly logsBloom: Uint8Array;
  readonly stateRoot: Uint8Array;
}

export async function checkExecution(
  header: Header,
  result: ExecutionSummary,
  pacer: Pacer,
): Promise<Result<void, BodyErrorCode>> {
  if (header.gasUsed !== result.gasUsed) {
    return fail("peer", "wrongGasUsed", `gas used ${result.gasUsed}, the header says ${header.gasUsed}`);
  }
  const receiptsRoot = await inSteps(rootOfReceiptsInSteps(result.receipts), pacer);
  return (
    sameRoot("wrongReceiptsRoot", "receipts root", header.receiptsRoot, receiptsRoot) ??
    sameRoot("wrongLogsBloom", "logs bloom", header.logsBloom, result.logsBloom) ??
    sameRoot("wrongStateRoot", "state root", header.stateRoot, result.stateRoot) ??
    ok(undefined)
  );
}

function sameRoot(
  code: BodyErrorCode,
  what: string,
  inHeader: Uint8Array,
  derived: Uint8Array,
): Result<void, BodyErrorCode> | undefined {
  if (equalBytes(inHeader, derived)) return undefined;
  return fail("peer", code, `${what} is ${toHex(derived)}, the header says ${toHex(inHeader)}`);
}
