import { RpcFailure, until } from "../../harness/nodeProcess.ts";
import type { DevelopmentNode } from "./developmentNodes.ts";

/** Accounts that no node has, so that each trial finds them as they are at first. */
export const OUTSIDER = `0x${"5e".repeat(20)}`;
const TOKEN = `0x${"70".repeat(20)}`;
const GATE = `0x${"6a".repeat(20)}`;

interface NewestBlock {
  readonly number: number;
  readonly timestamp: number;
}

/** What a trial does with one of the nodes, and sees of it in a form in which nodes are comparable. */
export class TrialChain {
  private readonly node: DevelopmentNode;
  readonly accounts: readonly string[];

  constructor(node: DevelopmentNode, accounts: readonly string[]) {
    this.node = node;
    this.accounts = accounts;
  }

  /** The answer as it is; throws RpcFailure. */
  get<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return this.node.rpc<T>(method, params);
  }

  /** The result in comparable form, or the code of the error. */
  async ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    try {
      return comparable(await this.node.rpc<unknown>(method, params));
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return { refused: error.code };
    }
  }

  /** What tools read of an error: its words, and the data that a call returned. */
  async askWhy(method: string, ...params: readonly unknown[]): Promise<unknown> {
    try {
      await this.node.rpc<unknown>(method, params);
      return "answered";
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return { words: withoutRemarks(error.message), data: returnedBy(error) };
    }
  }

  async newest(): Promise<NewestBlock> {
    const block = await this.get<{ readonly number: string; readonly timestamp: string }>(
      "eth_getBlockByNumber",
      "latest",
      false,
    );
    return { number: Number(block.number), timestamp: Number(block.timestamp) };
  }

  /** The answer, and by how many blocks the chain is longer afterwards. */
  async blocks(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const before = await this.newest();
    const answer = await this.ask(method, ...params);
    return { answer, blocks: (await this.newest()).number - before.number };
  }

  /** The seconds between the times of the newest blocks, oldest first. */
  async spacing(blocks: number): Promise<readonly number[]> {
    const { number } = await this.newest();
    const times: number[] = [];
    for (let at = number - blocks; at <= number; at++) {
      const block = await this.get<{ readonly timestamp: string }>(
        "eth_getBlockByNumber",
        quantity(at),
        false,
      );
      times.push(Number(block.timestamp));
    }
    return times.slice(1).map((time, index) => time - (times[index] as number));
  }

  /** Seconds by which the newest block is later than that one, in thousands, so that seconds that pass do not count. */
  async thousandsSince({ timestamp }: NewestBlock): Promise<number> {
    return Math.round(((await this.newest()).timestamp - timestamp) / 1000);
  }

  /** Sends a transfer of one wei between two of the accounts. */
  transfer(from = this.accounts[0], more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return this.get("eth_sendTransaction", {
      from,
      to: this.accounts[1],
      value: "0x1",
      gas: "0x5208",
      gasPrice: GAS_PRICE,
      ...more,
    });
  }

  /** The hash again, once a block has it: not every node answers only then. */
  async mined(hash: string): Promise<string> {
    await until(async () => (await this.get("eth_getTransactionReceipt", hash)) ?? undefined, "its block");
    return hash;
  }

  /** A token whose balances and allowances are in the slots keccak(arguments). */
  async token(): Promise<string> {
    await this.setCode(TOKEN, "0x36600490038060046000376000205460005260206000f3");
    return TOKEN;
  }

  /** A contract that stores something from this time on, and reverts before it. */
  async gate(opensAt: number): Promise<string> {
    const code = `0x63${opensAt.toString(16).padStart(8, "0")}42106010576001600055005b600080fd`;
    await this.setCode(GATE, code);
    return GATE;
  }

  async setCode(address: string, code: string): Promise<void> {
    await this.get("anvil_setCode", address, code).catch(() => this.get("hardhat_setCode", address, code));
  }

  /** Ends its mining, and empties its pool, of which anvil would mine later what it has kept after going back. */
  async halt(): Promise<void> {
    await this.get("evm_setIntervalMining", 0);
    await this.get("evm_setAutomine", false);
    // Hardhat does not know the method, and empties its pool when it goes back.
    await this.ask("anvil_dropAllTransactions");
  }

  /** Has it as at the start of each trial. */
  async calm(): Promise<void> {
    await this.halt();
    await this.get("evm_setAutomine", true);
  }
}

/** Remarks in brackets are each node's own. Hardhat's server puts a word before the text of an error. */
function withoutRemarks(message: string): string {
  return message.replace(/^Error: /, "").replace(/ \([^)]*\)+$/, "");
}

/** The data of a call that failed: Hardhat has it in an object, its matchers read both. */
function returnedBy({ data }: RpcFailure): unknown {
  return typeof data === "object" && data !== null && "data" in data ? (data.data ?? undefined) : data;
}

/** Hashes and ids differ from node to node. */
function comparable(value: unknown): unknown {
  if (typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value)) return "a hash";
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]));
}

/** Two gwei, which each of them takes. */
export const GAS_PRICE = "0x77359400";

export const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;
export const bytes32 = (value: number | bigint): string => `0x${value.toString(16).padStart(64, "0")}`;
