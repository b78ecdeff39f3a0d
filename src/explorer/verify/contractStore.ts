import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, asAddress } from "../../primitives/address.ts";
import { hexToBytes, toHex } from "../../primitives/hex.ts";
import type { StandardInput } from "./standardInput.ts";
import { CONTRACTS_BYTES, MOST_CONTRACTS } from "./verifyLimits.ts";

/** A contract whose code was compiled here from these sources. */
export interface VerifiedContract extends Pick<StandardInput, "sources" | "settings"> {
  readonly address: string;
  readonly match: "exact" | "partial";
  readonly source: string;
  readonly name: string;
  readonly compiler: string;
  readonly abi: unknown;
  /** Keccak-256 of the code that was compared. */
  readonly codeHash: string;
}

/**
 * The verified contracts, a file for each below one folder, named by the address. Nothing of a request is part of a path but
 * the bytes of the address. One thread writes.
 */
export class ContractStore {
  private readonly folder: string;
  private readonly sizes = new Map<string, number>();
  private bytes = 0;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      if (!FILE.test(name)) continue;
      this.note(name, statSync(join(folder, name)).size);
    }
  }

  /** A verified contract; undefined for others. */
  read(address: Address): VerifiedContract | undefined {
    const name = nameOf(address);
    if (!this.sizes.has(name)) return undefined;
    return JSON.parse(readFileSync(join(this.folder, name), "utf8")) as VerifiedContract;
  }

  /** Keeps a contract, durable before it is shown; false where there is no room. */
  write(contract: VerifiedContract): boolean {
    const name = nameOf(asAddress(hexToBytes(contract.address)));
    const text = JSON.stringify(contract);
    const size = Buffer.byteLength(text);
    const isNew = !this.sizes.has(name);
    const after = this.bytes - (this.sizes.get(name) ?? 0) + size;
    if (after > CONTRACTS_BYTES || (isNew && this.sizes.size >= MOST_CONTRACTS)) return false;
    const draft = join(this.folder, `${name}.draft`);
    try {
      writeFileSync(draft, text, { flush: true });
      renameSync(draft, join(this.folder, name));
    } catch {
      rmSync(draft, { force: true });
      return false;
    }
    this.note(name, size);
    return true;
  }

  private note(name: string, size: number): void {
    this.bytes += size - (this.sizes.get(name) ?? 0);
    this.sizes.set(name, size);
  }
}

const FILE = /^0x[0-9a-f]{40}\.json$/;

function nameOf(address: Address): string {
  return `${toHex(address)}.json`;
}
