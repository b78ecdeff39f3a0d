import type { CallRequest, Overrides } from "../execution/simulation/callRequest.ts";
import type { Address } from "../primitives/address.ts";
import type { Requester } from "../primitives/requester.ts";
import type { CallFramesConfig } from "./callFrames.ts";
import type { FlatCallConfig } from "./flatCallTracer.ts";
import type { OtterscanTrace } from "./otterscanTraces.ts";
import type { ParityTypes } from "./parityTrace.ts";
import type { PrestateConfig } from "./prestateTracer.ts";
import type { StandardTraceOptions } from "./standardTrace.ts";
import type { StructLogOptions } from "./structLogs.ts";

/** The output format of a debug method. */
export type DebugStyle =
  | { readonly kind: "structLogs"; readonly options: StructLogOptions }
  /** The tracers of go-ethereum. */
  | { readonly kind: "callTracer"; readonly config: CallFramesConfig }
  | { readonly kind: "flatCallTracer"; readonly config: FlatCallConfig }
  | { readonly kind: "4byteTracer" }
  | { readonly kind: "prestateTracer"; readonly config: PrestateConfig }
  /** A trace in the form that Otterscan shows. */
  | { readonly kind: "otterscan"; readonly trace: OtterscanTrace };

/** A job for a tracing thread. */
export type TraceJob =
  /** debug_traceTransaction, debug_traceBlock*: one transaction, or the list of all. */
  | {
      readonly kind: "debugBlock";
      readonly block: BlockChoice;
      readonly index?: number;
      readonly style: DebugStyle;
    }
  /** debug_standardTraceBlockToFile and its variant for bad blocks: the JSON lines of one transaction's file. */
  | {
      readonly kind: "file";
      readonly block: BlockChoice;
      readonly index: number;
      readonly options: StandardTraceOptions;
    }
  /** debug_traceCall; after the first `transactions` of the block, or after all of it. */
  | {
      readonly kind: "debugCall";
      readonly blockNumber: bigint;
      readonly transactions?: number;
      readonly call: CallRequest;
      readonly style: DebugStyle;
      readonly overrides?: Overrides;
    }
  /** trace_transaction; trace_get with a path. */
  | {
      readonly kind: "transaction";
      readonly blockNumber: bigint;
      readonly index: number;
      readonly path?: readonly number[];
    }
  /** trace_block. */
  | { readonly kind: "block"; readonly blockNumber: bigint }
  | { readonly kind: "filter"; readonly filter: TraceFilter }
  /** trace_replayTransaction, trace_replayBlockTransactions: one transaction, or the list of all. */
  | {
      readonly kind: "replay";
      readonly blockNumber: bigint;
      readonly index?: number;
      readonly types: ParityTypes;
    }
  /** trace_call and trace_rawTransaction. */
  | { readonly kind: "call"; readonly blockNumber: bigint; readonly call: TracedCall }
  /** trace_callMany: each call sees the changes of those before it. */
  | { readonly kind: "calls"; readonly blockNumber: bigint; readonly calls: readonly TracedCall[] };

/** A block of the chain by its number, or a block given as RLP. */
export type BlockChoice = { readonly number: bigint } | { readonly raw: Uint8Array };

export interface TracedCall {
  readonly call: CallRequest;
  readonly types: ParityTypes;
}

/** The filter of trace_filter; an empty list of addresses matches all. */
export interface TraceFilter {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly fromAddresses: readonly Address[];
  readonly toAddresses: readonly Address[];
  /** Whether one of sender and recipient is enough where both are given. */
  readonly isUnion: boolean;
  /** Matches to skip. */
  readonly after: number;
  /** Most matches to return; no limit when undefined. */
  readonly count: number | undefined;
}

export type TraceResult =
  /** The JSON in ASCII. Each piece has a buffer of its own, so that it moves from thread to thread without a copy. */
  | { readonly kind: "traced"; readonly pieces: readonly Uint8Array<ArrayBuffer>[] }
  | { readonly kind: "stateUnavailable" }
  /** The call was refused before its first instruction; `detail` is Besu's text. */
  | { readonly kind: "refused"; readonly detail: string }
  /** The overrides of state or block are invalid. */
  | { readonly kind: "overridesRefused"; readonly detail: string }
  /** The block cannot be executed on its parent's state. */
  | { readonly kind: "blockNotExecutable"; readonly detail: string }
  /** The trace is larger than an answer may be. */
  | { readonly kind: "tooLarge" }
  /** The traced call or block takes more memory than one may. */
  | { readonly kind: "tooMuchMemory" }
  | { readonly kind: "timedOut"; readonly limitMs: number }
  /** The queue is full, and this requester has the largest share of it. */
  | { readonly kind: "busy" };

/** Runs trace jobs on a worker thread, which can be terminated, with a time limit. */
export interface Tracer {
  /** A requester that has disconnected gets "timedOut". */
  run(job: TraceJob, requester: Requester): Promise<TraceResult>;
}
