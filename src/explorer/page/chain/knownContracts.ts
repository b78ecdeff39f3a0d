import { useEffect, useState } from "preact/hooks";
import type { Abi } from "viem";

/** A contract that the visitor has described. It stays in this browser. */
export interface KnownContract {
  readonly name: string;
  readonly abi: Abi;
}

const PREFIX = "contract:";
const listeners = new Set<() => void>();

function knownContract(address: string): KnownContract | undefined {
  const text = localStorage.getItem(PREFIX + address.toLowerCase());
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as KnownContract;
  } catch {
    return undefined;
  }
}

export function keepContract(address: string, contract: KnownContract): void {
  localStorage.setItem(PREFIX + address.toLowerCase(), JSON.stringify(contract));
  for (const listener of listeners) listener();
}

export function forgetContract(address: string): void {
  localStorage.removeItem(PREFIX + address.toLowerCase());
  for (const listener of listeners) listener();
}

/** Addresses of the contracts whose names have this in them. */
export function contractsNamed(text: string): readonly { readonly address: string; readonly name: string }[] {
  const sought = text.toLowerCase();
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => key.slice(PREFIX.length))
    .map((address) => ({ address, name: knownContract(address)?.name ?? "" }))
    .filter(({ name }) => name.toLowerCase().includes(sought));
}

export function useKnownContract(address: string | null | undefined): KnownContract | undefined {
  const find = (): KnownContract | undefined => (address == null ? undefined : knownContract(address));
  const [known, setKnown] = useState(find);
  useEffect(() => {
    const listener = (): void => setKnown(find());
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [address]);
  return known;
}

/**
 * An ABI as compilers and build tools write it: the list itself, or an object that has it as `abi`. Undefined for anything
 * else.
 */
export function readAbi(text: string): Abi | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : (value as { readonly abi?: unknown } | null)?.abi;
    return Array.isArray(list) && list.length > 0 && list.every(isEntry) ? (list as Abi) : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
