import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Address, asAddress } from "../../primitives/address.ts";
import { hexToBytes, toHex } from "../../primitives/hex.ts";
import type { StandardInput } from "./standardInput.ts";
import { ABI_LENGTH, CONTRACTS_BYTES, MOST_CONTRACTS } from "./verifyLimits.ts";

/** A contract whose code was compiled here. */
export interface VerifiedContract {
  readonly address: string;
  readonly match: "exact" | "partial";
  readonly source: string;
  readonly name: string;
  readonly compiler: string;
  readonly abi: unknown;
  /** Keccak-256 of the code that was compared. */
  readonly codeHash: string;
}

/** Sources and settings from which a verified contract was compiled. */
export type VerifiedSources = Pick<StandardInput, "sources" | "settings">;

/** Most that a store keeps. */
export interface StoreLimits {
  readonly contracts: number;
  readonly bytes: number;
}

const USUAL_LIMITS: StoreLimits = { contracts: MOST_CONTRACTS, bytes: CONTRACTS_BYTES };

/** What has become of a contract that is to be kept: among others, it is too long for its line, or the disk refuses it. */
export type Keeping = "kept" | "full" | "tooLong" | "notWritten";

/**
 * The verified contracts, a file for each below one folder, named by the address. Its first line is the contract, which tables ask
 * for; its second line the sources, which may be long. Nothing of a request is part of a path but the bytes of the address. One
 * thread writes. A full store takes no more, rather than to forget what others have verified: a visitor with many contracts could
 * have it forget all of theirs.
 */
export class ContractStore {
  private readonly folder: string;
  private readonly limits: StoreLimits;
  private readonly sizes = new Map<string, number>();
  private bytes = 0;

  constructor(folder: string, limits: StoreLimits = USUAL_LIMITS) {
    this.folder = folder;
    this.limits = limits;
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      if (FILE.test(name)) this.note(name, statSync(join(folder, name)).size);
      // A node that was killed left it.
      if (name.endsWith(DRAFT)) rmSync(join(folder, name), { force: true });
    }
  }

  /** A verified contract; undefined for others. */
  read(address: Address): VerifiedContract | undefined {
    const name = nameOf(address);
    if (!this.sizes.has(name)) return undefined;
    return JSON.parse(firstLineOf(join(this.folder, name))) as VerifiedContract;
  }

  /** The sources of a verified contract; undefined for others. */
  readSources(address: Address): VerifiedSources | undefined {
    const name = nameOf(address);
    if (!this.sizes.has(name)) return undefined;
    const text = readFileSync(join(this.folder, name), "utf8");
    return JSON.parse(text.slice(text.indexOf("\n"))) as VerifiedSources;
  }

  /** Bytes of what is kept of a contract; 0 for none. */
  sizeOf(address: Address): number {
    return this.sizes.get(nameOf(address)) ?? 0;
  }

  /** Number of contracts, and bytes of all of them. */
  get used(): StoreLimits {
    return { contracts: this.sizes.size, bytes: this.bytes };
  }

  /** Whether so many bytes may be kept of a contract. */
  hasRoom(address: Address, size: number): boolean {
    const before = this.sizes.get(nameOf(address));
    if (before === undefined && this.sizes.size >= this.limits.contracts) return false;
    return this.bytes - (before ?? 0) + size <= this.limits.bytes;
  }

  /** Keeps a contract, durable before it is shown. */
  write(contract: VerifiedContract, sources: VerifiedSources): Keeping {
    const address = asAddress(hexToBytes(contract.address));
    const name = nameOf(address);
    const first = JSON.stringify(contract);
    const text = `${first}\n${JSON.stringify(sources)}`;
    const size = Buffer.byteLength(text);
    if (first.length > ABI_LENGTH) return "tooLong";
    if (!this.hasRoom(address, size)) return "full";
    const draft = join(this.folder, `${name}${DRAFT}`);
    try {
      writeFileSync(draft, text, { flush: true });
      renameSync(draft, join(this.folder, name));
    } catch {
      rmSync(draft, { force: true });
      return "notWritten";
    }
    this.note(name, size);
    return "kept";
  }

  private note(name: string, size: number): void {
    this.bytes += size - (this.sizes.get(name) ?? 0);
    this.sizes.set(name, size);
  }
}

const FILE = /^0x[0-9a-f]{40}\.json$/;
const DRAFT = ".draft";

/** Bytes that are read at once of a first line. */
const PIECE_BYTES = 64 * 1024;

/** The first line of a file, without what follows, which may be a hundred times as long. */
function firstLineOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const pieces: Buffer[] = [];
    for (;;) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const read = piece.subarray(0, readSync(file, piece));
      const end = read.indexOf("\n");
      pieces.push(end < 0 ? read : read.subarray(0, end));
      if (end >= 0 || read.length === 0) return Buffer.concat(pieces).toString("utf8");
    }
  } finally {
    closeSync(file);
  }
}

function nameOf(address: Address): string {
  return `${toHex(address)}.json`;
}
