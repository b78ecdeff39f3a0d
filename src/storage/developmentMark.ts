import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Address } from "../primitives/address.ts";
import { NoSmallFile, readRegularFile } from "../primitives/boundedFile.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { Hash } from "../primitives/hash.ts";
import { toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { translateDiskError } from "./diskErrors.ts";
import { replaceFile, replaceFileInBackground } from "./durableFile.ts";

/** What a marked data folder knows besides its chain. */
interface DevelopmentState {
  /** Hash of the genesis block, lower-case hexadecimal. */
  readonly genesis: string;
  /** Address of the validator whose key seals the blocks, lower-case hexadecimal. */
  readonly validator: string;
  /** Seconds by which the chain's time is ahead of the clock. */
  readonly offsetSeconds: bigint;
  readonly mining: MiningMode;
}

/** When blocks are made without being asked for; both, or neither, may be on. */
export interface MiningMode {
  /** A block as soon as a transaction waits that it can hold. */
  readonly isAutomatic: boolean;
  /** Bounds of the time between two blocks, milliseconds; undefined for no blocks by time. */
  readonly intervalMs: { readonly least: number; readonly most: number } | undefined;
}

export const INSTANT: MiningMode = { isAutomatic: true, intervalMs: undefined };

/**
 * A data folder whose chain is for development alone: its blocks may have any time, and states that no transaction made
 * (development-network.md#the-mark). The mark is durable before the first such block, and nothing removes it. Only this file makes
 * an object of this class, so a function that takes one is called for marked folders only.
 */
export class MarkedFolder {
  private readonly path: string;
  private current: DevelopmentState;
  /** Undefined when everything is written. */
  private writing: Promise<void> | undefined;
  private failure: unknown;

  private constructor(path: string, state: DevelopmentState) {
    this.path = path;
    this.current = state;
  }

  /** Marks the folder, durably. Throws DiskError. */
  static mark(
    dataPath: string,
    state: Omit<DevelopmentState, "genesis" | "validator"> & {
      readonly genesis: Hash;
      readonly validator: Address;
    },
  ): MarkedFolder {
    const complete = { ...state, genesis: toHex(state.genesis), validator: toHex(state.validator) };
    replaceFile(developmentMarkFile(dataPath), textOf(complete), MARK_MODE);
    return new MarkedFolder(dataPath, complete);
  }

  /** Reads the mark of a folder; undefined when it has none. An error when the file says nothing that can be relied upon. */
  static read(dataPath: string): Result<MarkedFolder | undefined, "unusableMark" | "diskFailure"> {
    const file = developmentMarkFile(dataPath);
    try {
      if (!existsSync(file)) return ok(undefined);
      const state = parseMark(readRegularFile(file, MARK_BYTES));
      return ok(new MarkedFolder(dataPath, state));
    } catch (error) {
      if (error instanceof MalformedMark || error instanceof NoSmallFile)
        return unusable(file, error.message);
      const { message } = translateDiskError(error, `The file ${file} cannot be read`);
      return fail("local", "diskFailure", message);
    }
  }

  get state(): DevelopmentState {
    return this.current;
  }

  /**
   * Changes what the folder knows. It is written in the background: a kill may lose the newest changes, never the mark. Throws
   * DiskError when an earlier change could not be written.
   */
  change(changes: Partial<Pick<DevelopmentState, "offsetSeconds" | "mining">>): void {
    if (this.failure !== undefined) throw this.failure;
    this.current = { ...this.current, ...changes };
    this.writing ??= this.write();
  }

  /** Resolves when no change waits to be written. */
  async settled(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    try {
      let written: DevelopmentState;
      do {
        written = this.current;
        await replaceFileInBackground(developmentMarkFile(this.path), textOf(written), MARK_MODE);
        if (written !== this.current) await pause(REWRITE_PAUSE_MS);
      } while (written !== this.current);
    } catch (error) {
      this.failure = error;
    }
    this.writing = undefined;
  }
}

export const developmentMarkFile = (dataPath: string): string => join(dataPath, "development.json");

const VERSION = 1;
const MARK_BYTES = 64 * 1024;

const MARK_MODE = 0o644;

/** Pause before changes that came during a write are written: each block of a thousand may change the time, and a write syncs twice. */
const REWRITE_PAUSE_MS = 100;

function textOf({ offsetSeconds, ...state }: DevelopmentState): string {
  const content = { version: VERSION, ...state, offsetSeconds: offsetSeconds.toString() };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

class MalformedMark extends Error {}

function parseMark(text: string): DevelopmentState {
  let mark: Readonly<Record<string, unknown>>;
  try {
    // Any value, or none, may stand under each name.
    mark = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new MalformedMark(messageOf(error));
  }
  if (mark?.version !== VERSION) throw new MalformedMark(`its version is ${String(mark?.version)}`);
  const { genesis, validator, offsetSeconds, mining } = mark;
  if (!isText(genesis, /^0x[0-9a-f]{64}$/))
    throw new MalformedMark("the hash of the genesis block is missing");
  if (!isText(validator, /^0x[0-9a-f]{40}$/)) throw new MalformedMark("the validator is missing");
  if (!isText(offsetSeconds, /^-?[0-9]{1,20}$/)) throw new MalformedMark("the time is missing");
  return { genesis, validator, offsetSeconds: BigInt(offsetSeconds), mining: parseMining(mining) };
}

function parseMining(mining: unknown): MiningMode {
  // Any value may stand there.
  const { isAutomatic, intervalMs } = (mining ?? {}) as {
    readonly isAutomatic?: unknown;
    readonly intervalMs?: { readonly least?: unknown; readonly most?: unknown } | null;
  };
  if (typeof isAutomatic !== "boolean") throw new MalformedMark("the way of mining is missing");
  if (intervalMs === undefined || intervalMs === null) return { isAutomatic, intervalMs: undefined };
  const { least, most } = intervalMs;
  if (!isMilliseconds(least) || !isMilliseconds(most) || least > most)
    throw new MalformedMark("the interval is malformed");
  return { isAutomatic, intervalMs: { least, most } };
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isMilliseconds(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function unusable(file: string, reason: string): Result<never, "unusableMark"> {
  return fail(
    "local",
    "unusableMark",
    `The file ${file} marks a folder of the development network, and cannot be understood (${reason}). Give another folder with ` +
      "--data-path; or remove this one, if nothing in it is needed.",
  );
}
