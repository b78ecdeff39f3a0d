import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Result } from "../../../src/primitives/result.ts";
import { listening, type ServerErrorCode } from "../../../src/rpc/server/server.ts";
import { LONGEST_SOCKET_PATH, SocketFile } from "../../../src/rpc/server/unixSocket.ts";

let folder: string;
let made = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ibex-socket-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function aPath(): string {
  made++;
  return join(folder, `${made}.ipc`);
}

/** Why no socket can be at the path; undefined when one is. */
async function problemAt(path: string): Promise<string | undefined> {
  const server = aServer();
  const opened: Result<void, ServerErrorCode> = await listening(() => SocketFile.open(server, path), {
    path,
  });
  return opened.ok ? undefined : opened.error.message;
}

function aServer(): Server {
  const server = createServer((socket) => socket.on("error", () => undefined).end("hello"));
  onTestFinished(() => void server.close());
  return server;
}

async function greeting(path: string): Promise<string> {
  const socket = connect(path);
  const [text] = (await once(socket, "data")) as [Buffer];
  return text.toString();
}

/** Leaves a socket behind that nobody serves, as a process does that is killed. */
async function leaveSocket(path: string): Promise<void> {
  const program = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => console.log("listens"))`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  expect(lstatSync(path).isSocket()).toBe(true);
}

describe("the file of a socket", () => {
  it("is this user's alone, with whatever mask the process runs", async () => {
    const mask = process.umask(0);
    onTestFinished(() => void process.umask(mask));
    const path = aPath();
    expect(await problemAt(path)).toBe(undefined);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(0);
    expect(await greeting(path)).toBe("hello");
  });

  it("takes the place of a socket that a killed process left", async () => {
    const path = aPath();
    await leaveSocket(path);
    expect(await problemAt(path)).toBe(undefined);
    expect(await greeting(path)).toBe("hello");
  });

  it("never takes the place of a socket that is served", async () => {
    const path = aPath();
    expect(await problemAt(path)).toBe(undefined);
    expect(await problemAt(path)).toBe(`${path} is in use by another program`);
    expect(await greeting(path)).toBe("hello");
  });

  it("never takes the place of a file, a folder or a link", async () => {
    const places = [aPath(), aPath(), aPath()] as const;
    writeFileSync(places[0], "precious");
    mkdirSync(places[1]);
    symlinkSync(places[0], places[2]);
    for (const path of places)
      expect(await problemAt(path)).toBe(
        `cannot listen on ${path}: there is a file of that name, which is not a socket`,
      );
    expect(execFileSync("cat", [places[2]]).toString()).toBe("precious");
  });

  it("needs its folder", async () => {
    const path = join(folder, "missing", "x.ipc");
    expect(await problemAt(path)).toBe(
      `cannot listen on ${path}: there is no folder ${join(folder, "missing")}`,
    );
  });

  it("may have a path of the longest length", async () => {
    const path = join(folder, "x".repeat(LONGEST_SOCKET_PATH - folder.length - 1));
    expect(Buffer.byteLength(path)).toBe(LONGEST_SOCKET_PATH);
    expect(await problemAt(path)).toBe(undefined);
    expect(await greeting(path)).toBe("hello");
  });

  it("stays when its server is closed, under its name alone", async () => {
    const path = aPath();
    const server = aServer();
    const file = await SocketFile.open(server, path);
    const { ino } = lstatSync(path);
    file.closeServer(server);
    expect(lstatSync(path).ino).toBe(ino);
    expect(readdirSync(folder).filter((name) => name.startsWith(`${made}.ipc`))).toEqual([`${made}.ipc`]);
  });

  it("is removed, unless another is in its place", async () => {
    const [path, other] = [aPath(), aPath()];
    (await SocketFile.open(aServer(), path)).remove();
    expect(existsSync(path)).toBe(false);
    const file = await SocketFile.open(aServer(), other);
    rmSync(other);
    writeFileSync(other, "another");
    file.remove();
    expect(existsSync(other)).toBe(true);
  });
});
