import { inSteps, type YieldPolicy } from "../execution/yieldPolicy.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
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
 * What can be said of a body before anything is executed. The incumbent does not look at withdrawals
 * (ibft2.md#body) and credits them from Shanghai on; no IBFT header names them, so a list that is not empty
 * was put there on the way.
 */
export async function checkBody(
  block: Block,
  yieldPolicy: YieldPolicy,
): Promise<Result<void, BodyErrorCode>> {
  if (block.ommers.length > 0)
    return refuse("ommersNotEmpty", `${block.ommers.length} ommers in an IBFT block`);
  if (block.withdrawals !== undefined && block.withdrawals.length > 0)
    return refuse("withdrawalsNotEmpty", `${block.withdrawals.length} withdrawals in an IBFT block`);
  const root = await inSteps(rootOfTransactionsInSteps(block.transactions), yieldPolicy);
  return (
    sameRoot("wrongTransactionsRoot", "transactions root", block.header.transactionsRoot, root) ??
    ok(undefined)
  );
}

/** What executing a block gave, to be compared with what its header promised. */
export interface ExecutionSummary {
  readonly gasUsed: bigint;
  readonly receipts: readonly Receipt[];
  readonly logsBloom: Uint8Array;
  readonly stateRoot: Uint8Array;
}

export async function checkExecution(
  header: Header,
  result: ExecutionSummary,
  yieldPolicy: YieldPolicy,
): Promise<Result<void, BodyErrorCode>> {
  if (header.gasUsed !== result.gasUsed) {
    return refuse("wrongGasUsed", `gas used ${result.gasUsed}, the header says ${header.gasUsed}`);
  }
  const receiptsRoot = await inSteps(rootOfReceiptsInSteps(result.receipts), yieldPolicy);
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
  promised: Uint8Array,
  derived: Uint8Array,
): Result<void, BodyErrorCode> | undefined {
  if (equalBytes(promised, derived)) return undefined;
  return refuse(code, `${what} is ${toHex(derived)}, the header says ${toHex(promised)}`);
}

function refuse(code: BodyErrorCode, message: string): Result<void, BodyErrorCode> {
  return err({ code, fault: "peer", message });
}
