import { useEffect, useState } from "preact/hooks";
import { type ConnectionState, connection } from "./connection.ts";
import { useHeight } from "./recentBlocks.ts";

/** A value being loaded, loaded, or the reason why it failed. An older value stays until the next one arrives. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly isLoading: boolean;
}

/**
 * Loads again whenever one of `keys` changes, and drops the result of an earlier load that arrives later. Loads nothing
 * while it is not ready.
 */
export function useLoaded<T>(load: () => Promise<T>, keys: readonly unknown[], isReady = true): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, error: undefined, isLoading: true });
  useEffect(() => {
    if (!isReady) return undefined;
    let isCurrent = true;
    setLoaded(({ value, error }) => ({ value, error, isLoading: true }));
    load().then(
      (value) => isCurrent && setLoaded({ value, error: undefined, isLoading: false }),
      (error: Error) => isCurrent && setLoaded({ value: undefined, error, isLoading: false }),
    );
    return () => {
      isCurrent = false;
    };
  }, [...keys, isReady]);
  return loaded;
}

/** Loads a value at the head: as soon as its number is known, and again with each block. */
export function useLoadedAtHead<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const height = useHeight();
  return useLoaded(load, [...keys, height], height !== undefined);
}

/** Whether a media query matches; renders again when that changes. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = (): void => setHolds(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, [query]);
  return holds;
}

export function useConnectionState(): ConnectionState {
  const [state, setState] = useState(connection.state);
  useEffect(() => {
    setState(connection.state);
    return connection.onState(() => setState(connection.state));
  }, []);
  return state;
}
