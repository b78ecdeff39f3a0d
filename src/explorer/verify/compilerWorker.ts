import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { startWorkerThread } from "../../workers/workerThread.ts";
import type { CompileJob, CompileOutcome } from "./compile.ts";
import type { CompiledCode } from "./matchCode.ts";
import type { StandardInput } from "./standardInput.ts";
import { ANSWER_BYTES, COMPILER_PAGES, HEAP_MB } from "./verifyLimits.ts";

/**
 * Process that compiles one input and ends. Its input comes from anybody, so it has bounds of its memory, no environment, no
 * way to read a file for a source, and its parent gives it the lowest priority and kills it at the time limit. The compiler has a thread of its
 * own, so that the process ends with its parent even while it compiles.
 */
interface SolidityModule {
  cwrap(name: string, result: "string", parameters: readonly string[]): (...values: unknown[]) => string;
}

function supervise(): void {
  // A flag that this release of V8 lacks is ignored; then the parent's watch alone bounds the memory.
  setFlagsFromString(`--wasm-max-mem-pages=${COMPILER_PAGES}`);
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.once("message", (job: CompileJob) => {
    const answer = (outcome: CompileOutcome): void => void process.send?.(outcome);
    const settings = { entry: new URL(import.meta.url), workerData: job, heapMb: HEAP_MB };
    startWorkerThread<CompileOutcome>(settings, {
      receive: answer,
      ended: () => answer({ kind: "failed", message: "The compiler failed, or took too much memory." }),
    });
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
  const answerTo = (settings: StandardInput["settings"]): SolidityAnswer =>
    // Without a callback, an import that is not among the sources is an error.
    JSON.parse(run(JSON.stringify({ ...input, settings: { ...settings, outputSelection } }), 0, 0));
  const answer = answerTo(input.settings);
  const made = answer.contracts?.[source]?.[contract];
  if (made === undefined) return { kind: "failed", message: firstErrors(answer.errors) };
  const codes = [codeOf(made, {})];
  const { libraries = {}, ...others } = input.settings as { readonly libraries?: Libraries };
  // Hardhat links after it has compiled, so that the metadata do not tell of libraries; it tells of them nevertheless.
  if (Object.keys(libraries).length > 0) {
    const unlinked = answerTo(others).contracts?.[source]?.[contract];
    if (unlinked !== undefined) codes.push(codeOf(unlinked, libraries));
  }
  return {
    kind: "compiled",
    abi: made.abi,
    sources: Object.keys(JSON.parse(made.metadata).sources),
    codes,
  };
}

/** Addresses by the file and the name of a library. */
type Libraries = Readonly<Record<string, Readonly<Record<string, string>>>>;

type Places = readonly { readonly start: number; readonly length: number }[];

interface SolidityAnswer {
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolidityContract>>>>;
  readonly errors?: readonly { readonly severity?: string; readonly formattedMessage?: string }[];
}

interface SolidityContract {
  readonly abi: unknown;
  readonly metadata: string;
  readonly evm: {
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences?: Readonly<Record<string, Places>>;
      readonly linkReferences?: Readonly<Record<string, Readonly<Record<string, Places>>>>;
    };
  };
}

/** The code of a contract, with the addresses of these libraries written into it. */
function codeOf({ evm: { deployedBytecode } }: SolidityContract, libraries: Libraries): CompiledCode {
  const { immutableReferences = {}, linkReferences = {} } = deployedBytecode;
  let { object } = deployedBytecode;
  for (const [file, names] of Object.entries(linkReferences))
    for (const [name, places] of Object.entries(names)) {
      const digits = /^0x([0-9a-f]{40})$/i.exec(libraries[file]?.[name] ?? "")?.[1]?.toLowerCase();
      if (digits === undefined) continue;
      for (const { start } of places)
        object = object.slice(0, 2 * start) + digits + object.slice(2 * start + digits.length);
    }
  return { object, immutables: Object.values(immutableReferences).flat() };
}

const OUTPUTS = [
  "abi",
  "metadata",
  "evm.deployedBytecode.object",
  "evm.deployedBytecode.immutableReferences",
  "evm.deployedBytecode.linkReferences",
];
/** Most characters of what the compiler complains of. */
const LONGEST_MESSAGE = 2_000;

function firstErrors(errors: SolidityAnswer["errors"] = []): string {
  const messages = errors
    .filter(({ severity }) => severity === "error")
    .map((one) => one.formattedMessage ?? "");
  const text = messages.join("\n").slice(0, LONGEST_MESSAGE);
  return text === "" ? "The sources have no contract of this name." : text;
}

if (isMainThread) supervise();
else parentPort?.postMessage(answerOf(workerData as CompileJob));
