import type { CallRequest, Overrides } from "../execution/simulation.ts";
import type { Address } from "../primitives/address.ts";
import type { Requester } from "../primitives/requester.ts";
import type { CallFramesConfig } from "./callFrames.ts";
import type { FlatCallConfig } from "./flatCallTracer.ts";
import type { ParityTypes } from "./parityTrace.ts";
import type { PrestateConfig } from "./prestateTracer.ts";
import type { StandardTraceOptions } from "./standardTrace.ts";
import type { StructLogOptions } from "./structLogs.ts";

/** How a debug method shows what was executed. */
export type DebugStyle =
  | { readonly kind: "structLogs"; readonly options: StructLogOptions }
  /** Those that go-ethereum brings along. */
  | { readonly kind: "callTracer"; readonly config: CallFramesConfig }
  | { readonly kind: "flatCallTracer"; readonly config: FlatCallConfig }
  | { readonly kind: "4byteTracer" }
  | { readonly kind: "prestateTracer"; readonly config: PrestateConfig };

/** What a thread is asked to trace. */
export type TraceJob =
  /** debug_traceTransaction, debug_traceBlock*: one transaction, or the list of all. */
  | {
      readonly kind: "debugBlock";
      readonly block: BlockChoice;
      readonly index?: number;
      readonly style: DebugStyle;
    }
  /** debug_standardTraceBlockToFile and its kin: the lines of one transaction's file, which are no JSON as a whole. */
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
  /** trace_callMany: each call sees what those before it did. */
  | { readonly kind: "calls"; readonly blockNumber: bigint; readonly calls: readonly TracedCall[] };

/** A block of the chain by its number, or one that came as RLP. */
export type BlockChoice = { readonly number: bigint } | { readonly raw: Uint8Array };

export interface TracedCall {
  readonly call: CallRequest;
  readonly types: ParityTypes;
}

/** trace_filter; an empty list of addresses admits all. */
export interface TraceFilter {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly fromAddresses: readonly Address[];
  readonly toAddresses: readonly Address[];
  /** Matches to skip. */
  readonly after: number;
  /** Most matches to answer. */
  readonly count: number | undefined;
}

export type TraceResult =
  /** `json` is ASCII. */
  | { readonly kind: "traced"; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly kind: "stateUnavailable" }
  /** Refused before the first instruction; the incumbent's words. */
  | { readonly kind: "refused"; readonly detail: string }
  /** What was to be otherwise before a call cannot be. */
  | { readonly kind: "overridesRefused"; readonly detail: string }
  /** The block cannot have been executed where it says. */
  | { readonly kind: "blockDoesNotFit"; readonly detail: string }
  /** The trace is larger than answers may be. */
  | { readonly kind: "tooLarge" }
  /** What is traced takes more memory than one call, or block, may. */
  | { readonly kind: "tooMuchMemory" }
  | { readonly kind: "timedOut"; readonly limitMs: number }
  /** Too much waits, and this asker has most of it. */
  | { readonly kind: "busy" };

/** Traces where that can be stopped: on a worker thread with a time limit. */
export interface Tracer {
  /** An asker who is gone is answered as one whose time is up. */
  run(job: TraceJob, requester: Requester): Promise<TraceResult>;
}
