import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { itIfThorough, someOf } from "../../thorough.ts";
import { runConfined } from "../harness/confinedProgram.ts";
import {
  freePort,
  logOf,
  PROGRAM,
  type RunningProgram,
  rpc,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** Root may read and write everything, so as root the program runs as another user. */
const OTHER_USER = process.getuid?.() === 0 ? { uid: 65_534 } : {};

/** False where root's tests lie in a folder that is closed to others, such as /root. */
const MAY_READ =
  spawnSync(process.execPath, ["-e", "fs.accessSync(process.argv[1])", PROGRAM], { ...OTHER_USER, cwd: "/" })
    .status === 0;

/** For nodes that show something on their main thread: the others take most of the time of a start. */
const FEW_THREADS = ["--explorer-enabled=false", "--rpc-threads=1"];

describe("a folder without permission ends the start with 2 and says what to do", () => {
  it.skipIf(!MAY_READ).each<[what: string, forbid: (folder: string) => void, message: RegExp]>([
    [
      "the folder is read-only",
      (folder) => chmodSync(folder, 0o555),
      /The data folder \S+ cannot be used: EACCES/,
    ],
    [
      "its content belongs to another user",
      (folder) => {
        mkdirSync(join(folder, "chain"));
        chmodSync(join(folder, "chain"), 0o777);
        writeFileSync(join(folder, "chain", "LOCK"), "", { mode: 0o400 });
      },
      /chain\/LOCK'\. The node runs as user \d+, who lacks the permission: change the owner of the folder and its contents \(chown -R \d+\)/,
    ],
    [
      "the key may not be read",
      (folder) => writeFileSync(join(folder, "key"), `0x${"11".repeat(32)}`, { mode: 0o000 }),
      /The node key file \S+key cannot be used: EACCES: .+; allow the user that runs the node to read it/,
    ],
  ])("%s (skipped where another user may not read the program)", async (_, forbid, message) => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    forbid(folder);
    const program = runConfined(
      [`--data-path=${folder}`, "--rpc-http-port=0", "--rpc-ws-port=0"],
      OTHER_USER,
    );
    expect(await program.exit).toBe(2);
    expect(program.output()).toMatch(message);
    expect(program.output()).toContain('"message":"the node cannot start: ');
    chmodSync(folder, 0o777);
  });
});

describe("a node", () => {
  it.skipIf(!MAY_READ)(
    "writes its process id to a file in a folder that it may not write, and empties it (skipped where another user may not read the program)",
    async () => {
      const folder = temporaryFolder();
      const pidFile = join(folder, "node.pid");
      writeFileSync(pidFile, "");
      chmodSync(pidFile, 0o666);
      chmodSync(folder, 0o755);
      const { program } = await started(OTHER_USER, (data) => chmodSync(data, 0o777), [
        `--pid-path=${pidFile}`,
        ...FEW_THREADS,
      ]);
      await untilLoaded(program);
      expect(readFileSync(pidFile, "utf8")).toBe(`${program.child.pid}`);
      program.child.kill();
      expect(await program.exit).toBe(0);
      expect(readFileSync(pidFile, "utf8")).toBe("");
    },
  );

  it("warns of a key that others may read, and of a Besu database in its folder, which it does not touch", async () => {
    const prepare = (folder: string): void => {
      writeFileSync(join(folder, "key"), `0x${"11".repeat(32)}`, { mode: 0o644 });
      mkdirSync(join(folder, "database"));
      writeFileSync(join(folder, "database", "IDENTITY"), "rocksdb");
    };
    const { program } = await started({}, prepare, FEW_THREADS);
    await untilLoaded(program);
    program.child.kill();
    expect(await program.exit).toBe(0);
    expect(program.output()).toMatch(/other users of this host may read the node's private key: chmod 600/);
    expect(program.output()).toContain("the data folder contains a Besu database");
  });

  itIfThorough("goes on when its log cannot be written", async () => {
    const { program, url } = await started({ outputFile: "/dev/full" });
    await expectNewBlock(url);
    program.child.kill();
    expect(await program.exit).toBe(0);
  });

  itIfThorough("that crashes logs it, and removes its files of process id and ports", async () => {
    const pidFile = join(temporaryFolder(), "node.pid");
    const { program, folder } = await started(
      { runtimeOptions: ["--import", throwingOn("SIGUSR2")] },
      undefined,
      [`--pid-path=${pidFile}`, ...FEW_THREADS],
    );
    await untilLoaded(program);
    await until(async () => (existsSync(pidFile) ? true : undefined), "a pid file");
    expect(existsSync(join(folder, "besu.ports"))).toBe(true);
    program.child.kill("SIGUSR2");
    expect(await program.exit).toBe(1);
    expect(program.output()).toMatch(
      /"throwable":"Error: broken for a test.*the node stops because of an internal error/,
    );
    expect(existsSync(pidFile)).toBe(false);
    expect(existsSync(join(folder, "besu.ports"))).toBe(false);
  });
});

/** Code that makes the process throw an uncaught error when it gets the signal. */
function throwingOn(signal: string): string {
  return `data:text/javascript,process.on("${signal}",()=>setTimeout(()=>{throw new Error("broken for a test")}))`;
}

/** Between two lines about refused connections: a minute, less what the times in the log may be off. */
const LEAST_PAUSE_MS = 59_000;

describe("too few open files", () => {
  it.each(someOf([24, 36, 46, 99]))(
    "end a start, whatever they would be too few for first, saying which limit to raise: %d",
    async (files) => {
      const options = [`--data-path=${temporaryFolder()}`, "--rpc-http-port=0", "--rpc-ws-port=0"];
      const program = runConfined(options, { first: `ulimit -n ${files}` });
      expect(await program.exit).toBe(74);
      expect(program.output()).toContain("Too few open files are allowed: raise the limit (ulimit -n 4096)");
    },
  );

  itIfThorough(
    "are logged at the start; under many connections blocks go on, and service returns when they close",
    async () => {
      const { program, url, port } = await started({ first: "ulimit -n 256" }, undefined, [
        "--rpc-http-max-active-connections=1000",
      ]);
      expect(program.output()).toMatch(/Only 256 files and connections may be open .*ulimit -n 65536/);
      expect(program.output()).toMatch(/the limit of open files allows only \d+ connections/);
      await untilLoaded(program);
      const crowd = await crowdAt(port, 400);
      await until(
        async () => (program.output().includes("connections are refused") ? true : undefined),
        "a line about refused connections",
      );
      const before = blocksIn(program);
      await until(async () => (blocksIn(program) >= before + 2 ? true : undefined), "two more blocks");
      // The thread of the explorer's index read its program meanwhile.
      expect(program.output()).not.toContain("Cannot find package");
      for (const socket of crowd) socket.destroy();
      await until(() => rpc<Hex>(url, "eth_blockNumber", []).catch(() => undefined), "an answer");
      const toldAtMs = logOf(program)
        .filter(({ message }) => message.includes("connections are refused"))
        .map(({ timestamp }) => Date.parse(timestamp));
      for (const [index, atMs] of toldAtMs.slice(1).entries())
        expect(atMs - (toldAtMs[index] ?? atMs)).toBeGreaterThan(LEAST_PAUSE_MS);
      program.child.kill();
      expect(await program.exit).toBe(0);
    },
  );
});

async function started(
  confinement: Parameters<typeof runConfined>[1],
  prepare?: (folder: string) => void,
  options: readonly string[] = [],
) {
  const folder = temporaryFolder();
  prepare?.(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const ports = [`--rpc-http-port=${port}`, "--rpc-ws-port=0"];
  const program = runConfined([`--data-path=${folder}`, ...ports, ...options], confinement);
  await until(() => rpc<Hex>(url, "eth_blockNumber", []).catch(() => undefined), "an answer");
  return { program, folder, url, port };
}

/** The servers listen while the last part of the program is still being loaded, which takes files. */
async function untilLoaded(program: RunningProgram): Promise<void> {
  const isUp = (): boolean => program.output().includes("main loop is up");
  await until(async () => (isUp() ? true : undefined), "the end of the start");
}

async function expectNewBlock(url: string): Promise<void> {
  const height = Number(await rpc<Hex>(url, "eth_blockNumber", []));
  await until(
    async () => (Number(await rpc<Hex>(url, "eth_blockNumber", [])) > height ? true : undefined),
    "a new block",
  );
}

function blocksIn(program: RunningProgram): number {
  return program.output().split("Produced #").length - 1;
}

/** Connections that send nothing, including those that the node closes. */
async function crowdAt(port: number, size: number): Promise<readonly Socket[]> {
  return Promise.all(
    Array.from(
      { length: size },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => resolve(socket));
          socket.on("error", () => resolve(socket));
        }),
    ),
  );
}

describe("a clock that is set", () => {
  it.concurrent.each(
    someOf([
      ["back", -3600],
      ["ahead", 3600],
    ] as const),
  )("%s by an hour is logged, and does not reach block timestamps", async (direction, seconds) => {
    const clock = settingTheClockOn("SIGUSR2", seconds);
    const { program, url } = await started({ runtimeOptions: ["--import", clock] }, undefined, FEW_THREADS);
    await expectNewBlock(url);
    program.child.kill("SIGUSR2");
    await until(
      async () => (program.output().includes(`clock was set 3600 s ${direction}`) ? true : undefined),
      "a line about the clock",
    );
    await expectNewBlock(url);
    await expectNewBlock(url);
    const { timestamp } = await rpc<{ timestamp: Hex }>(url, "eth_getBlockByNumber", ["latest", false]);
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(Math.abs(seconds) / 2);
    program.child.kill();
    expect(await program.exit).toBe(0);
  });
});

/** Code that sets the clock of the process when it gets the signal, as `date -s` would set the system clock. */
function settingTheClockOn(signal: string, seconds: number): string {
  const code = `const now=Date.now;let by=0;Date.now=()=>now()+by;process.on("${signal}",()=>{by=${seconds * 1000}})`;
  return `data:text/javascript,${code}`;
}

describe("open files that run out while the node runs", () => {
  itIfThorough(
    "lose nothing that was answered: the node goes on, or ends with 74 and says what to do",
    async () => {
      const { program, folder, port } = await started({
        first: "ulimit -n 256",
        runtimeOptions: ["--import", takingAllFilesOn("SIGUSR2")],
      });
      const connection = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = (requests: readonly { method: string; params: readonly unknown[] }[]) =>
        askBy(connection, port, requests);
      await untilLoaded(program);
      let isOver = false;
      void program.exit.then(() => {
        isOver = true;
      });
      // Where the connection is lost, there will be no other one: the node can accept none any more.
      const receiptOf = (hash: Hex): Promise<Receipt | "noAnswer"> =>
        until(async () => {
          if (isOver) return "noAnswer";
          return ask([{ method: "eth_getTransactionReceipt", params: [hash] }]).then(
            ([receipt]) => (receipt as Receipt | null | undefined) ?? undefined,
            () => "noAnswer",
          );
        }, "a receipt, or the end of node or connection");
      const answered: Receipt[] = [];
      for (let batch = 0; batch < 16 && !isOver; batch++) {
        const large = Array.from({ length: LARGE_BATCH }, (_, index) =>
          aTransaction({
            nonce: BigInt(batch * LARGE_BATCH + index),
            gasPrice: 1n,
            gasLimit: 1_100_000n,
            data: new Uint8Array(100_000),
          }),
        );
        // Fails once node or connection has ended, which receiptOf finds, too.
        await ask(large.map(({ raw }) => ({ method: "eth_sendRawTransaction", params: [toHex(raw)] }))).catch(
          () => [],
        );
        const last = toHex(large.at(-1)?.hash ?? new Uint8Array());
        const receipt = await receiptOf(last);
        if (receipt === "noAnswer") break;
        answered.push(receipt);
        // Only now: a connection may end with its thread, which cannot be started again, before anything is answered.
        if (batch === 0) program.child.kill("SIGUSR2");
      }
      program.child.kill();
      const exitCode = await program.exit;
      expect([0, 74]).toContain(exitCode);
      if (exitCode === 74)
        expect(program.output()).toContain("Too few open files are allowed: raise the limit");
      connection.destroy();
      const again = await startNodeProcess({ dataPath: folder });
      expect(answered.length).toBeGreaterThan(0);
      for (const receipt of answered)
        expect(await again.rpc("eth_getTransactionReceipt", [receipt.transactionHash])).toEqual(receipt);
      expect(await again.stop()).toBe(0);
    },
  );
});

const LARGE_BATCH = 20;

interface Receipt {
  readonly transactionHash: Hex;
}

/** Code that opens files up to the limit of the process when it gets the signal. */
function takingAllFilesOn(signal: string): string {
  return `data:text/javascript,import{openSync}from"node:fs";process.on("${signal}",()=>{try{for(;;)openSync("/dev/null")}catch{}})`;
}

/** Agents with a connection. A further one would wait for ever where the node cannot accept it. */
const connected = new WeakSet<Agent>();

/** Sends a batch over the only connection that the agent ever opens; returns the results. */
function askBy(
  agent: Agent,
  port: number,
  requests: readonly { readonly method: string; readonly params: readonly unknown[] }[],
): Promise<readonly unknown[]> {
  const body = JSON.stringify(requests.map((each, id) => ({ jsonrpc: "2.0", id, ...each })));
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: "127.0.0.1", method: "POST" }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("error", reject);
      response.on("end", () => {
        const replies = JSON.parse(text) as readonly { id: number; result?: unknown }[];
        resolve([...replies].sort((a, b) => a.id - b.id).map(({ result }) => result));
      });
    });
    sent.on("error", reject);
    sent.once("socket", () => {
      if (connected.has(agent) && !sent.reusedSocket) sent.destroy(new Error("the connection was lost"));
      connected.add(agent);
    });
    sent.end(body);
  });
}
