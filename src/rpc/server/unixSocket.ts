import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { messageOf } from "../../primitives/errorMessage.ts";

/** Where a server listens for programs of this machine. */
export interface SocketPath {
  readonly path: string;
}

export function isPath(address: object): address is SocketPath {
  return "path" in address;
}

/** Longest path of a Unix socket in bytes: what an address has room for, less its last zero. */
export const LONGEST_SOCKET_PATH = process.platform === "linux" ? 107 : 103;

/**
 * The file of a listening Unix socket. Only this user may connect, from the first moment on. A socket that a killed process left is
 * replaced; one that a living process serves is not, nor is any other file.
 */
export class SocketFile {
  private readonly path: string;
  private readonly made: Stats;

  private constructor(path: string) {
    this.path = path;
    this.made = lstatSync(path);
  }

  /** Opens the socket: the server listens at the path. Rejects when it cannot. */
  static async open(server: Server, path: string): Promise<SocketFile> {
    checkFolder(path);
    await removeStale(path);
    await listenPrivately(server, path);
    return new SocketFile(path);
  }

  /** Closes the server, whose socket listens on by other descriptors. Node.js removes the file then, so it has another name meanwhile. */
  closeServer(server: Server): void {
    const { path } = this;
    const kept = `${path}.${process.pid}`;
    renameSync(path, kept);
    server.close();
    renameSync(kept, path);
  }

  /** Removes the file, unless another has taken its place. Call it while the socket is open, which keeps its number from being given to another. */
  remove(): void {
    if (isSame(statOf(this.path), this.made)) rmSync(this.path, { force: true });
  }
}

/** Why no server could listen at the path now; undefined when one could. Nothing is made or removed. */
export async function findPathDefect(path: string): Promise<string | undefined> {
  try {
    checkFolder(path);
    accessSync(dirname(path), constants.W_OK);
    const found = statOf(path);
    if (found !== undefined) checkSocket(found);
    return found === undefined || (await isRefused(path)) ? undefined : "another process listens there";
  } catch (error) {
    return messageOf(error);
  }
}

function checkFolder(path: string): void {
  if (!existsSync(dirname(path))) throw new Error(`there is no folder ${dirname(path)}`);
}

function checkSocket(found: Stats): void {
  if (!found.isSocket()) throw new Error("there is a file of that name, which is not a socket");
}

/** The system makes the file with the mask of this moment. */
export function listenPrivately(server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177);
  try {
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } finally {
    process.umask(mask);
  }
}

/** Removes a socket that nobody serves. One that is served stays, so that listening fails. */
async function removeStale(path: string): Promise<void> {
  const found = statOf(path);
  if (found === undefined) return;
  checkSocket(found);
  if (!(await isRefused(path))) return;
  // Unless another process has just made one there.
  if (isSame(statOf(path), found)) unlinkSync(path);
}

/** Whether the system refuses connections, because no process listens. */
function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = connect(path);
    client.once("connect", () => {
      client.destroy();
      resolve(false);
    });
    client.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isSame(found: Stats | undefined, known: Stats): boolean {
  return found !== undefined && found.ino === known.ino && found.dev === known.dev;
}
