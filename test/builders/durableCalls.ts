import type { PathLike } from "node:fs";
import { basename } from "node:path";

/**
 * What was asked of the disk, in order: `write votes.log`, `sync votes.log`, `rename votes.log.new votes.log`, `sync
 * folder`. For tests of durability, in which a process that was killed would show nothing: the system keeps what it did
 * not sync. Use it with vi.mock on node:fs and node:fs/promises.
 */
export const durableCalls: string[] = [];

type Files = typeof import("node:fs");
type AsyncFiles = typeof import("node:fs/promises");

export function recordingFiles(files: Files): Files {
  const names = new Map<number, string>();
  const nameOf = (file: number): string => names.get(file) ?? "?";
  return {
    ...files,
    openSync(path, flags, mode) {
      const file = files.openSync(path, flags, mode);
      const isFolder = files.fstatSync(file).isDirectory();
      names.set(file, isFolder ? "folder" : basename(String(path)));
      return file;
    },
    fsyncSync(file) {
      durableCalls.push(`sync ${nameOf(file)}`);
      files.fsyncSync(file);
    },
    fdatasyncSync(file) {
      durableCalls.push(`sync ${nameOf(file)}`);
      files.fdatasyncSync(file);
    },
    renameSync(from, to) {
      durableCalls.push(renamed(from, to));
      files.renameSync(from, to);
    },
    writeFileSync(file, data, options) {
      const name = typeof file === "number" ? nameOf(file) : basename(String(file));
      durableCalls.push(`write ${name}`);
      files.writeFileSync(file, data, options);
      const isFlushed = typeof options === "object" && options !== null && options.flush === true;
      if (isFlushed) durableCalls.push(`sync ${name}`);
    },
    writeSync: ((file: number, ...rest: [Uint8Array, number, number, number]) => {
      durableCalls.push(`write ${nameOf(file)}`);
      return files.writeSync(file, ...rest);
    }) as Files["writeSync"],
  };
}

export function recordingAsyncFiles(files: AsyncFiles): AsyncFiles {
  return {
    ...files,
    async open(path, flags, mode) {
      const handle = await files.open(path, flags, mode);
      const name = basename(String(path));
      for (const method of ["write", "writeFile", "sync", "datasync"] as const) {
        const act = handle[method].bind(handle) as (...args: readonly unknown[]) => Promise<unknown>;
        const word = method.startsWith("write") ? "write" : "sync";
        Object.defineProperty(handle, method, {
          value: async (...args: readonly unknown[]) => {
            const result = await act(...args);
            // Once it is done: a sync that nobody waits for comes too late.
            durableCalls.push(`${word} ${name}`);
            return result;
          },
        });
      }
      return handle;
    },
    async rename(from, to) {
      await files.rename(from, to);
      durableCalls.push(renamed(from, to));
    },
  };
}

function renamed(from: PathLike, to: PathLike): string {
  return `rename ${basename(String(from))} ${basename(String(to))}`;
}
