import type { HighWaterMark, MarkerFile } from "../../src/storage/markerFile.ts";

/** A marker in memory. */
export function createMemoryMarkerFile(): MarkerFile {
  let newest: HighWaterMark | undefined;
  const write = (mark: HighWaterMark): void => {
    newest = mark;
  };
  return { read: () => newest, write, writeSynced: write, close: () => undefined };
}
