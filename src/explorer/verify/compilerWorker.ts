import { createRequire } from "node:module";
import { constants, setPriority } from "node:os";
import { setFlagsFromString } from "node:v8";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { CompileJob, CompileOutcome } from "./compile.ts";
import { ANSWER_BYTES, COMPILER_PAGES, HEAP_MB } from "./verifyLimits.ts";

/**
 * Process that compiles one input and ends. Its input comes from anybody, so it has the lowest priority, bounds of its memory,
 * no environment, no way to read a file for a source, and its parent kills it at the time limit. The compiler has a thread of its
 * own, so that the process ends with its parent even while it compiles.
 */
interface SolidityModule {
  cwrap(name: string, result: "string", parameters: readonly string[]): (...values: unknown[]) => string;
}

function supervise(): void {
  try {
    setPriority(0, constants.priority.PRIORITY_LOW);
  } catch {
    // Not permitted: the process keeps its priority.
  }
  // A flag that this release of V8 lacks is ignored; then the parent's watch alone bounds the memory.
  setFlagsFromString(`--wasm-max-mem-pages=${COMPILER_PAGES}`);
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.once("message", (job: CompileJob) => {
    const answer = (outcome: CompileOutcome): void => void process.send?.(outcome);
    const thread = new Worker(new URL(import.meta.url), {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      stdout: true,
      stderr: true,
    });
    thread.once("message", answer);
    thread.once("error", () =>
      answer({ kind: "failed", message: "The compiler failed, or took too much memory." }),
    );
  });
}

function answerOf(job: CompileJob): CompileOutcome {
  const text = JSON.stringify(compile(job));
  return text.length > ANSWER_BYTES
    ? { kind: "failed", message: "The compiler's answer is too long." }
    : JSON.parse(text);
}

function compile({ compilerPath, input, source, contract }: CompileJob): CompileOutcome {
  const solc = createRequire(import.meta.url)(compilerPath) as SolidityModule;
  const run = solc.cwrap("solidity_compile", "string", ["string", "number", "number"]);
  const outputSelection = { [source]: { [contract]: OUTPUTS } };
  const request = { ...input, settings: { ...input.settings, outputSelection } };
  // Without a callback, an import that is not among the sources is an error.
  const answer = JSON.parse(run(JSON.stringify(request), 0, 0));
  const made = answer.contracts?.[source]?.[contract];
  const deployed = made?.evm?.deployedBytecode;
  if (typeof deployed?.object !== "string") return { kind: "failed", message: firstErrors(answer.errors) };
  return {
    kind: "compiled",
    abi: made.abi,
    sources: Object.keys(JSON.parse(made.metadata).sources),
    code: {
      object: deployed.object,
      immutables: Object.values(deployed.immutableReferences ?? {}).flat() as [],
    },
  };
}

const OUTPUTS = [
  "abi",
  "metadata",
  "evm.deployedBytecode.object",
  "evm.deployedBytecode.immutableReferences",
];
/** Most characters of what the compiler complains of. */
const LONGEST_MESSAGE = 2_000;

function firstErrors(
  errors: readonly { readonly severity?: string; readonly formattedMessage?: string }[] = [],
): string {
  const messages = errors
    .filter(({ severity }) => severity === "error")
    .map((one) => one.formattedMessage ?? "");
  const text = messages.join("\n").slice(0, LONGEST_MESSAGE);
  return text === "" ? "The sources have no contract of this name." : text;
}

if (isMainThread) supervise();
else parentPort?.postMessage(answerOf(workerData as CompileJob));
