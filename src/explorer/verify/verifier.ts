import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { assertNever } from "../../primitives/assert.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { toHex } from "../../primitives/hex.ts";
import { type CompileOutcome, type RunningCompilation, startCompilation } from "./compile.ts";
import { ContractStore, type StoreLimits, type VerifiedContract } from "./contractStore.ts";
import { matchCode, releaseOf } from "./matchCode.ts";
import type { StandardInput } from "./standardInput.ts";
import { ABI_LENGTH, MOST_OF_HOST, MOST_WAITING, REMEMBERED_OUTCOMES } from "./verifyLimits.ts";

export interface VerifierSettings {
  /** Folder of compilers, soljson-v0.8.24+commit.e11b9ed9.js and the like. */
  readonly compilersPath: string;
  /** Folder of the verified contracts. */
  readonly contractsPath: string;
  /** Whether a validator verifies as well. */
  readonly runsOnValidators: boolean;
  /** Most that is kept; those of verifyLimits.ts unless given. */
  readonly storeLimits?: StoreLimits;
}

interface VerifierParts {
  /** The code of a contract at the head; undefined without one. */
  codeOf(address: Address): Promise<Uint8Array | undefined>;
  /** Whether this node validates now. */
  isValidator(): Promise<boolean>;
  readonly start?: typeof startCompilation;
  readonly logger: Pick<Logger, "often">;
}

export interface VerifyRequest {
  readonly remoteHost: string;
  readonly address: Address;
  /** The compiler's full version, such as v0.8.24+commit.e11b9ed9. */
  readonly compiler: string;
  readonly input: StandardInput;
  readonly source: string;
  readonly name: string;
}

/** What has become of a request: among others, sources of other code, or of code for which the node has sources already. */
export type Outcome =
  | "pending"
  | "verified"
  | "known"
  | { readonly problem: string }
  | { readonly difference: string };

interface Job extends VerifyRequest {
  readonly id: string;
  readonly compilerPath: string;
}

/**
 * Verifies contracts, one at a time, each by a compilation in a process of its own (compile.ts):
 *
 *     ask ─> a compiler of this version? a contract at the address? room for this host? ─> queue ─> compile
 *        ─> the code fits (matchCode.ts)? keep it (contractStore.ts)
 */
export class Verifier {
  readonly store: ContractStore;
  private readonly settings: VerifierSettings;
  private readonly parts: VerifierParts;
  private readonly queue: Job[] = [];
  private readonly outcomes = new Map<string, Outcome>();
  /** Tells of the jobs that have an outcome, by their ids. */
  private readonly settled = new EventEmitter().setMaxListeners(0);
  private current: { readonly job: Job; readonly compilation: RunningCompilation } | undefined;
  private isClosed = false;

  constructor(settings: VerifierSettings, parts: VerifierParts) {
    this.settings = settings;
    this.parts = parts;
    this.store = new ContractStore(settings.contractsPath, settings.storeLimits);
  }

  /** The versions of the compilers that the operator has put into the folder, the newest last. */
  compilers(): readonly string[] {
    try {
      const names = readdirSync(this.settings.compilersPath);
      return names.flatMap((name) => COMPILER.exec(name)?.[1] ?? []).sort();
    } catch {
      return [];
    }
  }

  /** The id of the job; or why there is none. */
  async ask(request: VerifyRequest): Promise<{ readonly id: string } | { readonly problem: string }> {
    if (!this.settings.runsOnValidators && (await this.parts.isValidator()))
      return { problem: "This node is a validator, which compiles nothing for others." };
    const code = await this.parts.codeOf(request.address);
    if (code === undefined || code.length === 0)
      return { problem: `Unable to locate ContractCode at ${toHex(request.address)}` };
    // Nothing can take its place, so nothing is compiled.
    if (this.keptOf(request.address, code)?.match === "exact")
      return { problem: "Contract source code already verified" };
    if (!this.store.hasRoom(request.address, charactersOf(request.input))) return { problem: this.full() };
    const compiler = request.compiler.startsWith("v") ? request.compiler : `v${request.compiler}`;
    if (!this.compilers().includes(compiler))
      return {
        problem: `This node has no compiler ${compiler.slice(0, 60)}. It has: ${this.compilers().join(", ")}`,
      };
    const isOwn = ({ remoteHost }: Job): boolean => remoteHost === request.remoteHost;
    const own =
      this.queue.filter(isOwn).length + (this.current !== undefined && isOwn(this.current.job) ? 1 : 0);
    if (own >= MOST_OF_HOST || this.queue.length >= MOST_WAITING)
      return { problem: "Too many contracts wait to be verified. Try again later." };
    const id = randomBytes(16).toString("hex");
    const compilerPath = join(this.settings.compilersPath, `soljson-${compiler}.js`);
    this.note(id, "pending");
    this.queue.push({ ...request, compiler, id, compilerPath });
    void this.work();
    return { id };
  }

  /** The outcome of a job, for which it waits so long; undefined for one that is not known. */
  async outcomeOf(id: string, waitMs: number): Promise<Outcome | undefined> {
    if (this.outcomes.get(id) === "pending")
      await once(this.settled, id, { signal: AbortSignal.timeout(waitMs) }).catch(() => undefined);
    return this.outcomes.get(id);
  }

  /** The verified contract at an address; undefined where there is none, or other code by now. */
  async contractAt(address: Address): Promise<VerifiedContract | undefined> {
    if (this.store.sizeOf(address) === 0) return undefined;
    const code = await this.parts.codeOf(address);
    return code && this.keptOf(address, code);
  }

  close(): void {
    this.isClosed = true;
    this.queue.length = 0;
    this.current?.compilation.kill();
  }

  private async work(): Promise<void> {
    if (this.current !== undefined || this.isClosed) return;
    const job = this.queue.shift();
    if (job === undefined) return;
    const { start = startCompilation } = this.parts;
    const { compilerPath, input, source, name: contract } = job;
    const compilation = start({ compilerPath, input, source, contract });
    this.current = { job, compilation };
    const outcome = compilation.outcome.then((compiled) => this.judge(job, compiled));
    this.note(job.id, await outcome.catch(() => ({ problem: "The node cannot judge this now." })));
    this.settled.emit(job.id);
    this.current = undefined;
    void this.work();
  }

  private async judge(job: Job, compiled: CompileOutcome): Promise<Outcome> {
    if (compiled.kind === "failed") return { problem: compiled.message };
    const { abi, codes } = compiled;
    const made = new Set(compiled.sources);
    const deployed = (await this.parts.codeOf(job.address)) ?? new Uint8Array(0);
    const matches = codes.map((code) => matchCode(deployed, code));
    const match = matches.find((each) => each === "exact") ?? matches.find((each) => each === "partial");
    if (match === undefined) return { difference: differenceOf(deployed, job.compiler) };
    const { input, address, source, name, compiler } = job;
    // Anybody may ask, and names and comments of other sources with the same code are not the deployer's.
    const kept = this.keptOf(address, deployed);
    if (kept?.match === "exact" || (kept !== undefined && match === "partial")) return "known";
    const keeping = this.store.write(
      { address: toHex(address), match, source, name, compiler, abi, codeHash: toHex(keccak256(deployed)) },
      {
        settings: input.settings,
        // Other sources of the request are covered by nothing.
        sources: Object.fromEntries(Object.entries(input.sources).filter(([path]) => made.has(path))),
      },
    );
    switch (keeping) {
      case "kept":
        return "verified";
      case "full":
        return { problem: this.full() };
      case "tooLong":
        return { problem: `The contract has a longer ABI than the ${ABI_LENGTH / 1024} KB that are kept.` };
      case "notWritten":
        return { problem: "The node cannot write to its disk now." };
      default:
        return assertNever(keeping);
    }
  }

  /** Tells the operator that nothing more can be kept, and returns what to tell who has asked. */
  private full(): string {
    const { contracts, bytes } = this.store.used;
    this.parts.logger.often(
      "warn",
      "no more verified contracts are kept; delete some while the node is stopped",
      () => ({
        folder: this.settings.contractsPath,
        contracts,
        bytes,
      }),
    );
    const megabytes = (bytes / 1024 / 1024).toFixed(1);
    return `The node has no more room for verified contracts: it keeps ${contracts}, of ${megabytes} MB. Its operator has to delete some.`;
  }

  /** What is kept for a contract that has this code. */
  private keptOf(address: Address, code: Uint8Array): VerifiedContract | undefined {
    const kept = this.store.read(address);
    return kept?.codeHash === toHex(keccak256(code)) ? kept : undefined;
  }

  private note(id: string, outcome: Outcome): void {
    this.outcomes.set(id, outcome);
    dropOldest(this.outcomes, REMEMBERED_OUTCOMES);
  }
}

const COMPILER = /^soljson-(v\d{1,3}\.\d{1,3}\.\d{1,3}\+commit\.[0-9a-f]{8})\.js$/;

/** Characters of the sources, of which a kept contract has at least as many bytes unless it needs only some of them. */
function charactersOf({ sources }: StandardInput): number {
  return Object.values(sources).reduce((sum, { content }) => sum + content.length, 0);
}

function differenceOf(deployed: Uint8Array, compiler: string): string {
  const release = releaseOf(deployed);
  const made =
    release === undefined || compiler.startsWith(`v${release}+`) ? "" : `, which solc ${release} made`;
  return `the compiled code differs from that of the contract${made}`;
}
