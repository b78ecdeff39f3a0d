import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes the names in a folder durable: a file that was created or renamed still exists after a power cut. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
