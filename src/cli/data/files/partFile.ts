import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/** A file in the making. What it holds is durable once it is closed; until then a kill leaves any part of it. */
export class PartFile {
  private readonly file: number;
  private isOpen = true;
  /** Written so far. */
  bytes = 0;

  /** Replaces what a kill has left under that path. Throws errors of the file system, as all methods do. */
  constructor(path: string) {
    this.file = openSync(path, "w", 0o644);
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
    this.bytes += bytes.length;
  }

  /** Syncs and closes. */
  close(): void {
    fsyncSync(this.file);
    this.abandon();
  }

  /** Closes without a promise. */
  abandon(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.file);
  }
}
