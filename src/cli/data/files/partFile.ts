import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/** An unfinished file. Its contents are durable once it is closed; until then a kill leaves any part of it. */
export class PartFile {
  private readonly file: number;
  private isOpen = true;
  /** Bytes written so far. */
  bytes = 0;

  /** Creates the file, replacing a leftover of a kill. Throws errors of the file system, as all methods do. */
  constructor(path: string) {
    this.file = openSync(path, "w", 0o644);
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
    this.bytes += bytes.length;
  }

  /** Syncs and closes the file. */
  close(): void {
    fsyncSync(this.file);
    this.abandon();
  }

  /** Closes the file without making it durable. */
  abandon(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.file);
  }
}
