import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { replaceFile } from "../storage/durableFile.ts";
import { RECORD_LINES } from "./limits.ts";

/** A gift that was promised. */
export interface RecordedGift {
  readonly atMs: number;
  /** Lower case. */
  readonly address: string;
  readonly remoteHost: string;
  readonly wei: bigint;
}

/**
 * The gifts of the last days, in memory and in a file of JSON lines. A gift is on disk before its transaction is sent, so that
 * a kill never lets one be given twice. A line that a kill has left unfinished was none.
 */
export class GiftRecord {
  readonly #path: string;
  readonly #keepMs: number;
  #gifts: RecordedGift[] = [];
  #lines = 0;
  #file: FileHandle | undefined;

  private constructor(path: string, keepMs: number) {
    this.#path = path;
    this.#keepMs = keepMs;
  }

  /** Reads the file, or makes it. Gifts older than `keepMs` are left out. Throws errors of the file system, and DiskError. */
  static async open(path: string, keepMs: number, nowMs: number): Promise<GiftRecord> {
    const record = new GiftRecord(path, keepMs);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    record.#gifts = text.split("\n").slice(0, -1).flatMap(readLine);
    await record.#rewrite(nowMs);
    return record;
  }

  /** Those that still count, the oldest first. */
  giftsAt(nowMs: number): readonly RecordedGift[] {
    const first = this.#gifts.findIndex(({ atMs }) => atMs > nowMs - this.#keepMs);
    if (first !== 0) this.#gifts.splice(0, first < 0 ? this.#gifts.length : first);
    return this.#gifts;
  }

  /** Resolves when the gift is on disk. */
  async add(gift: RecordedGift): Promise<void> {
    this.#gifts.push(gift);
    if (++this.#lines > RECORD_LINES) return this.#rewrite(gift.atMs);
    await this.#file?.appendFile(lineOf(gift));
    await this.#file?.datasync();
  }

  /** Takes a gift back whose transaction was not accepted. */
  async remove(gift: RecordedGift): Promise<void> {
    this.#gifts = this.#gifts.filter((other) => other !== gift);
    await this.#rewrite(gift.atMs);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #rewrite(nowMs: number): Promise<void> {
    await this.close();
    const gifts = this.giftsAt(nowMs);
    replaceFile(this.#path, gifts.map(lineOf).join(""), 0o600);
    this.#lines = gifts.length;
    this.#file = await open(this.#path, "a", 0o600);
  }
}

function lineOf({ atMs, address, remoteHost, wei }: RecordedGift): string {
  return `${JSON.stringify({ atMs, address, remoteHost, wei: wei.toString() })}\n`;
}

/** A damaged line is left out: it is no reason for a node not to start. */
function readLine(line: string): readonly RecordedGift[] {
  try {
    const { atMs, address, remoteHost, wei } = JSON.parse(line);
    return [
      { atMs: Number(atMs), address: String(address), remoteHost: String(remoteHost), wei: BigInt(wei) },
    ];
  } catch {
    return [];
  }
}
