import type { LocatedTransaction } from "../../chain/chainReader.ts";
import { EMPTY_BYTES, hexToBytes, toHex } from "../../primitives/hex.ts";
import { joinPieces } from "../../primitives/jsonPieces.ts";
import { RpcError } from "../errors/errors.ts";
import { REVERTED } from "../errors/simulationErrors.ts";
import { type Failure, failedError } from "../errors/toolErrors.ts";
import type { ContextOf } from "../method.ts";

/** The error of eth_sendTransaction for a transaction that a block has and that failed; undefined for one that did not. */
export async function failureOf(
  { receipt, block, index, transaction }: LocatedTransaction,
  context: ContextOf<"tracer">,
): Promise<RpcError | undefined> {
  if (!("status" in receipt.outcome) || receipt.outcome.status === 1) return undefined;
  const style = { kind: "callTracer", config: { onlyTopCall: true, withLog: false } } as const;
  const at = { number: block.header.number };
  const traced = await context.backend.tracer.run({ kind: "debugBlock", block: at, index, style }, context);
  if (traced.kind !== "traced")
    return new RpcError(REVERTED, `Transaction ${toHex(transaction.hash)} failed in block ${at.number}`);
  return failedError(failureIn(JSON.parse(joinPieces(traced.pieces)) as TopCall));
}

/** What the call tracer says of the transaction's own call. */
interface TopCall {
  readonly error: string;
  readonly output?: string;
}

function failureIn({ error, output }: TopCall): Failure {
  if (error !== "execution reverted") return { halted: error };
  return { reverted: output === undefined ? EMPTY_BYTES : hexToBytes(output) };
}
