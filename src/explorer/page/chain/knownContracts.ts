import { useEffect, useState } from "preact/hooks";
import type { Abi } from "viem";
import { readEntries } from "./abi.ts";
import { forgetVerified, type VerifiedContract, verifiedContract } from "./verification.ts";

/** A contract whose ABI is known: the visitor has given it, and it stays in this browser, or the node has verified it. */
export interface KnownContract {
  readonly name: string;
  readonly abi: Abi;
  /** Its sources, where the node has verified them. */
  readonly verified?: VerifiedContract;
}

/** Most characters kept of a name. */
const LONGEST_NAME = 100;
const PREFIX = "contract:";
const listeners = new Set<() => void>();

/** Cache of the browser's storage, by key: a page may name one contract hundreds of times. */
const read = new Map<string, KnownContract | undefined>();

/** Another tab has added a contract, or removed one. */
addEventListener("storage", () => {
  read.clear();
  notify();
});

function notify(): void {
  for (const listener of listeners) listener();
}

function keyOf(address: string): string {
  return PREFIX + address.toLowerCase();
}

function knownContract(address: string): KnownContract | undefined {
  const key = keyOf(address);
  if (read.has(key)) return read.get(key);
  const text = localStorage.getItem(key);
  if (text === null) return undefined;
  const contract = contractIn(text);
  read.set(key, contract);
  return contract;
}

function contractIn(text: string): KnownContract | undefined {
  try {
    const { name, abi } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const reading = readEntries(abi);
    return "abi" in reading && typeof name === "string" ? { name, abi: reading.abi } : undefined;
  } catch {
    return undefined;
  }
}

/** Stores a contract; false when the browser has no room for it. */
export function keepContract(address: string, { name, abi }: KnownContract): boolean {
  try {
    localStorage.setItem(keyOf(address), JSON.stringify({ name: name.slice(0, LONGEST_NAME), abi }));
  } catch {
    return false;
  }
  read.delete(keyOf(address));
  notify();
  return true;
}

export function forgetContract(address: string): void {
  localStorage.removeItem(keyOf(address));
  read.delete(keyOf(address));
  notify();
}

/** Addresses of the contracts whose names contain this text. */
export function contractsNamed(text: string): readonly { readonly address: string; readonly name: string }[] {
  const sought = text.toLowerCase();
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => key.slice(PREFIX.length))
    .map((address) => ({ address, name: knownContract(address)?.name ?? "" }))
    .filter(({ name }) => name.toLowerCase().includes(sought));
}

/** The verified contracts that the node has told of, by address. */
const verified = new Map<string, KnownContract>();

/** Asks the node whether it has verified a contract, once for each. */
async function lookUp(address: string): Promise<void> {
  const key = address.toLowerCase();
  const contract = await verifiedContract(key);
  if (contract === null || verified.has(key)) return;
  verified.set(key, { name: contract.name, abi: contract.abi, verified: contract });
  notify();
}

/** Makes pages look again for a contract that has just been verified. */
export function contractVerified(address: string): void {
  forgetVerified(address.toLowerCase());
  verified.delete(address.toLowerCase());
  void lookUp(address);
}

/** A contract by the visitor's ABI, or else by the sources that the node has verified. */
export function useKnownContract(address: string | null | undefined): KnownContract | undefined {
  const find = (): KnownContract | undefined =>
    address == null ? undefined : (knownContract(address) ?? verified.get(address.toLowerCase()));
  const [known, setKnown] = useState(find);
  useEffect(() => {
    const listener = (): void => setKnown(find());
    listener();
    if (address != null) void lookUp(address);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [address]);
  return known;
}
