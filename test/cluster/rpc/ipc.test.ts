import { execFile } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { IpcSocketProvider, parseEther, Wallet } from "ethers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const RECIPIENT = "0x000000000000000000000000000000000000dEaD";
const [{ privateKey: KEY = "" } = {}] = DEV_ACCOUNTS;

interface Answer {
  readonly id: number | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
  readonly params?: { readonly result: { readonly number: string } };
}

/** A program that is connected to a node's socket. */
class Program {
  readonly socket: Socket;
  private readonly lines: AsyncIterator<string>;

  constructor(path: string) {
    this.socket = connect(path);
    this.lines = createInterface({ input: this.socket })[Symbol.asyncIterator]();
  }

  send(method: string, ...params: readonly unknown[]): void {
    this.socket.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  }

  async next(): Promise<Answer> {
    const { value } = await this.lines.next();
    return JSON.parse(value) as Answer;
  }

  async ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    this.send(method, ...params);
    const { result } = await this.next();
    this.socket.destroy();
    return result;
  }
}

let node: NodeProcess;
let path: string;

beforeAll(async () => {
  node = await startNodeProcess({ options: ["--Xrpc-ipc-enabled", "--rpc-threads=2"] });
  path = join(node.dataPath, "besu.ipc");
});

afterAll(async () => {
  expect(await node.stop()).toBe(0);
  expect(existsSync(path)).toBe(false);
});

describe("a node with a Unix socket", () => {
  it("answers its groups on it, in the data folder, to its own user", async () => {
    expect(lstatSync(path).isSocket()).toBe(true);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    // The last three are those of the development network.
    const groups = ["eth", "net", "web3", "evm", "hardhat", "anvil"];
    expect(await new Program(path).ask("rpc_modules")).toEqual(
      Object.fromEntries(groups.map((group) => [group, "1.0"])),
    );
    expect(await new Program(path).ask("net_services")).toEqual(await node.rpc("net_services"));
    const program = new Program(path);
    program.send("admin_peers");
    expect((await program.next()).error?.code).toBe(-32604);
    program.socket.destroy();
    await expect.poll(() => node.output()).toContain(`"ipc":"unix:${path}"`);
  });

  it("tells subscribers of each block, whichever thread they are on", async () => {
    const programs = Array.from({ length: 12 }, () => new Program(path));
    for (const program of programs) program.send("eth_subscribe", "newHeads");
    for (const program of programs) expect((await program.next()).result).toMatch(/^0x/);
    const heads = await Promise.all(
      programs.map(async (program) => {
        const told = [await program.next(), await program.next()];
        program.socket.destroy();
        return told.map(({ params }) => Number(params?.result.number));
      }),
    );
    for (const [first = 0, second] of heads) expect(second).toBe(first + 1);
  });

  itIfThorough(
    "has one at the path that it is given, replaces that of a killed node, and leaves that of a living one",
    async () => {
      const taken = join(temporaryFolder(), "ibex.sock");
      const options = ["--Xrpc-ipc-enabled", `--Xrpc-ipc-path=${taken}`, "--Xrpc-ipc-apis=ADMIN"];
      const first = await startNodeProcess({ options });
      await first.kill();
      expect(existsSync(taken)).toBe(true);
      const second = await startNodeProcess({ options });
      expect(await new Program(taken).ask("rpc_modules")).toEqual({ admin: "1.0" });
      const third = runProgram([
        ...options,
        `--data-path=${temporaryFolder()}`,
        "--rpc-http-port=0",
        "--rpc-ws-port=0",
      ]);
      expect(await third.exit).not.toBe(0);
      expect(third.output()).toContain(
        `${taken} is in use by another program. Choose another path with --Xrpc-ipc-path.`,
      );
      expect(await new Program(taken).ask("rpc_modules")).toEqual({ admin: "1.0" });
      expect(await second.stop()).toBe(0);
      expect(existsSync(taken)).toBe(false);
    },
  );
});

describe("a client on a Unix socket", () => {
  itIfThorough("of ethers sends transactions, asks many things at once, and hears of blocks", async () => {
    const provider = new IpcSocketProvider(path, 1337, { staticNetwork: true });
    onTestFinished(() => provider.destroy());
    const heard = new Promise<number>((resolve) => provider.once("block", resolve));
    const wallet = new Wallet(KEY, provider);
    const sent = await wallet.sendTransaction({ to: RECIPIENT, value: parseEther("1") });
    const receipt = await sent.wait();
    expect(receipt?.status).toBe(1);
    expect(await heard).toBeGreaterThan(0);
    const balances = await Promise.all(Array.from({ length: 100 }, () => provider.getBalance(RECIPIENT)));
    expect(new Set(balances)).toEqual(new Set([parseEther("1")]));
  });

  itIfThorough("of cast reads the chain and sends", async () => {
    const binary = join(
      createRequire(import.meta.url).resolve(
        `@foundry-rs/cast-${process.platform}-${process.arch === "x64" ? "amd64" : "arm64"}/package.json`,
      ),
      "../bin/cast",
    );
    const cast = async (...words: string[]): Promise<string> => {
      const { stdout } = await promisify(execFile)(binary, [...words, "--rpc-url", path]);
      return stdout.trim();
    };
    expect(await cast("chain-id")).toBe("1337");
    expect(Number(await cast("block-number"))).toBeGreaterThanOrEqual(0);
    const sent = await cast("send", RECIPIENT, "--value", "1", "--private-key", KEY, "--json");
    expect(JSON.parse(sent).status).toBe("0x1");
    await until(async () => ((await cast("balance", RECIPIENT)) === "0" ? undefined : true), "a balance");
  });
});
