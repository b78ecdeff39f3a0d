import { MemoryExhausted } from "../execution/memoryBudget.ts";
import { assertNever } from "../primitives/assert.ts";
import { toHex } from "../primitives/hex.ts";
import { callTracer } from "./callTracer.ts";
import { CallError, OverridesError, traceCalls } from "./callTraces.ts";
import { writeBlockTraces, writeFilteredTraces, writeTransactionTraces } from "./chainTraces.ts";
import { flatCallTracer } from "./flatCallTracer.ts";
import { fourByteTracer } from "./fourByteTracer.ts";
import { otterscanTrace } from "./otterscanTraces.ts";
import { type ParityTypes, parityTrace } from "./parityTrace.ts";
import { prestateTracer } from "./prestateTracer.ts";
import { BlockNotExecutableError, replayBlock, StateUnavailableError } from "./replay.ts";
import { StandardTrace, type StandardTraceOptions } from "./standardTrace.ts";
import { StructLogs } from "./structLogs.ts";
import type { DebugStyle, TraceJob, TraceResult } from "./traceJob.ts";
import type { TraceStyle } from "./tracer.ts";
import { blockOf, selectedBlock, type TraceSource } from "./traceSource.ts";
import { TraceBudget, TraceText, TraceTooLargeError } from "./traceText.ts";

/**
 * Traces of mined transactions and of simulated calls.
 *
 *     job ─> blocks executed again (replay.ts)  ┐  ExecutionObserver   ┌ structLogs  callTracer  prestateTracer
 *            calls on a block's state           ┘ ───────────────────> ┤ flatTraces  vmTraces
 *            (callTraces.ts)                       WatchedOverlay ───> └ stateDiff   ─> TraceText: JSON
 *
 * Invariants: nothing here writes to the chain's state; an observer never changes the execution; one budget bounds the text
 * and everything held to write it. Time is bounded from outside, by terminating the thread.
 */
export async function runTrace(job: TraceJob, source: TraceSource): Promise<TraceResult> {
  const budget = new TraceBudget(source.limitBytes);
  const text = new TraceText(budget);
  try {
    await write(job, source, { text, budget });
    return { kind: "traced", pieces: text.takePieces() };
  } catch (error) {
    if (error instanceof StateUnavailableError) return { kind: "stateUnavailable" };
    if (error instanceof TraceTooLargeError) return { kind: "tooLarge" };
    if (error instanceof MemoryExhausted) return { kind: "tooMuchMemory" };
    if (error instanceof CallError) return { kind: "refused", detail: error.message };
    if (error instanceof OverridesError) return { kind: "overridesRefused", detail: error.message };
    if (error instanceof BlockNotExecutableError)
      return { kind: "blockNotExecutable", detail: error.message };
    throw error;
  }
}

interface Output {
  readonly text: TraceText;
  readonly budget: TraceBudget;
}

async function write(job: TraceJob, source: TraceSource, output: Output): Promise<void> {
  const { text } = output;
  switch (job.kind) {
    case "debugBlock": {
      const block = selectedBlock(source, job.block);
      if (job.index !== undefined)
        return replayBlock(source, block, { index: job.index, style: debugStyle(job.style, output) });
      const style = listedStyle(job.style, output);
      return listed(text, (item) => replayBlock(source, block, { style: item(style) }));
    }
    case "file": {
      const style = fileStyle(job.options, source, text);
      return replayBlock(source, selectedBlock(source, job.block), { index: job.index, style });
    }
    case "debugCall":
      return traceCalls(source, job, [{ call: job.call, style: debugStyle(job.style, output) }]);
    case "transaction":
      return writeTransactionTraces(source, job, output);
    case "block":
      return writeBlockTraces(source, job.blockNumber, output);
    case "filter":
      return writeFilteredTraces(source, job.filter, output);
    case "replay": {
      const style = parityStyle(job.types, "replay", output);
      const block = blockOf(source, job.blockNumber);
      if (job.index !== undefined) return replayBlock(source, block, { index: job.index, style });
      return listed(text, (item) => replayBlock(source, block, { style: item(style) }));
    }
    case "call": {
      const { call, types } = job.call;
      return traceCalls(source, job, [{ call, style: parityStyle(types, "call", output) }]);
    }
    case "calls":
      return listed(text, (item) => {
        const calls = job.calls.map(({ call, types }) => ({
          call,
          style: item(parityStyle(types, "call", output)),
        }));
        return traceCalls(source, job, calls);
      });
    default:
      return assertNever(job);
  }
}

/** Writes the texts of several transactions as a JSON array. */
async function listed(
  text: TraceText,
  writeItems: (item: (style: TraceStyle) => TraceStyle) => Promise<void>,
): Promise<void> {
  let isFirst = true;
  text.add("[");
  await writeItems((style) => (traced) => {
    if (!isFirst) text.add(",");
    isFirst = false;
    return style(traced);
  });
  text.add("]");
}

function debugStyle(style: DebugStyle, output: Output): TraceStyle {
  const { text } = output;
  switch (style.kind) {
    case "structLogs":
      return () => {
        const logs = new StructLogs(style.options, text);
        return { observer: logs, finish: (result) => logs.finish(result) };
      };
    case "callTracer":
      return ({ gasLimit }) => callTracer(style.config, { gasLimit, ...output });
    case "flatCallTracer":
      return ({ gasLimit, location }) => flatCallTracer(style.config, { gasLimit, location, ...output });
    case "4byteTracer":
      return () => fourByteTracer(output);
    case "prestateTracer":
      return (traced) => prestateTracer(style.config, traced, text);
    case "otterscan":
      return () => otterscanTrace(style.trace, output);
    default:
      return assertNever(style);
  }
}

function fileStyle(options: StandardTraceOptions, { nowNs }: TraceSource, text: TraceText): TraceStyle {
  return () => {
    const trace = new StandardTrace(options, text);
    const startNs = nowNs();
    return {
      observer: trace,
      finish(result) {
        trace.finish(result, nowNs() - startNs);
      },
    };
  };
}

/** Adds the transaction's hash, which go-ethereum's tracers show in lists. */
function listedStyle(style: DebugStyle, output: Output): TraceStyle {
  const write = debugStyle(style, output);
  if (style.kind === "structLogs") return write;
  const { text } = output;
  return (traced) => {
    const hash = traced.location === undefined ? "null" : `"${toHex(traced.location.transactionHash)}"`;
    const { observer, finish } = write(traced);
    return {
      observer,
      finish(result) {
        text.add(`{"txHash":${hash},"result":`);
        finish(result);
        text.add("}");
      },
    };
  };
}

function parityStyle(types: ParityTypes, form: "call" | "replay", output: Output): TraceStyle {
  return (traced) => parityTrace(traced, types, form, output);
}
