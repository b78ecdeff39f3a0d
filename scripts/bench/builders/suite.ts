import { encodeDeployData, encodeFunctionData, type Hex, parseEther, toHex } from "viem";
import { openHttpRequester } from "../httpRequester.ts";
import { compileToken } from "../token.ts";

/** How long a suite took, and what it asked for. */
export interface SuiteTimes {
  readonly tests: number;
  readonly seconds: number;
  /** By method: how many requests, and how long all of them took. */
  readonly methods: ReadonlyMap<string, MethodTime>;
}

export interface MethodTime {
  readonly requests: number;
  readonly milliseconds: number;
}

/** Answers of a fixture, which `deploy` makes. */
interface Fixture {
  readonly token: Hex;
  readonly owner: Hex;
  readonly other: Hex;
}

interface Receipt {
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: readonly { readonly topics: readonly Hex[] }[];
}

/** The message of an error that a node answered with. */
class Refused extends Error {
  override name = "Refused";
}

/** Compiled before there is a connection, which the nodes would close while nothing is asked. */
const TOKEN = compileToken();
const TOKENS = 1_000_000n;
const KEYLESS: Hex = "0x00000000000000000000000000000000000a11ce";

/**
 * Tests of a token, one after the other on one connection, as Hardhat with its network helpers and ethers has them run on a node: the
 * fixture is deployed once, and each test begins with a return to the snapshot after it and a new snapshot. All of a test's requests
 * wait for the one before.
 */
export class BuilderSuite {
  private readonly ask: (body: string) => Promise<string>;
  readonly close: () => void;
  private times = new Map<string, MethodTime>();
  private snapshot: Hex | undefined;
  private fixture: Fixture | undefined;

  private constructor({ ask, close }: Awaited<ReturnType<typeof openHttpRequester>>) {
    this.ask = ask;
    this.close = close;
  }

  static async open(port: number): Promise<BuilderSuite> {
    return new BuilderSuite(await openHttpRequester(port));
  }

  /** Runs so many tests; each run is a suite of its own, with a fixture of its own. */
  async run(tests: number): Promise<SuiteTimes> {
    this.times = new Map();
    this.fixture = undefined;
    const startedAt = performance.now();
    for (let number = 0; number < tests; number++) {
      const kind = KINDS[number % KINDS.length] ?? "transfers";
      await this[kind](await this.loadFixture());
    }
    return { tests, seconds: (performance.now() - startedAt) / 1000, methods: this.times };
  }

  private async loadFixture(): Promise<Fixture> {
    if (this.fixture === undefined) this.fixture = await this.deploy();
    else expect((await this.rpc("evm_revert", [this.snapshot])) === true, "the snapshot is there");
    this.snapshot = await this.rpc<Hex>("evm_snapshot");
    return this.fixture;
  }

  private async deploy(): Promise<Fixture> {
    const [owner = "0x", other = "0x"] = await this.rpc<readonly Hex[]>("eth_accounts");
    const data = encodeDeployData({ ...TOKEN, args: [[owner], TOKENS] });
    const { contractAddress } = await this.send({ from: owner, data });
    return { token: contractAddress ?? "0x", owner, other };
  }

  private async transfers({ token, owner, other }: Fixture): Promise<void> {
    for (const value of [1n, 2n]) {
      const { logs, blockNumber } = await this.write(token, owner, "transfer", [other, value]);
      expect(logs.length === 1, "the transfer has an event");
      const range = { address: token, fromBlock: blockNumber, toBlock: blockNumber };
      expect((await this.rpc<readonly object[]>("eth_getLogs", [range])).length === 1, "the event is found");
    }
    expect((await this.balance(token, other)) === 3n, "both transfers count");
    expect((await this.balance(token, owner)) === TOKENS - 3n, "both transfers count");
  }

  private async refusals({ token, owner, other }: Fixture): Promise<void> {
    await this.write(token, owner, "approve", [other, 5n]);
    const tooMuch = encodeFunctionData({
      abi: TOKEN.abi,
      functionName: "transferFrom",
      args: [owner, other, 6n],
    });
    await this.refused("eth_estimateGas", [{ from: other, to: token, data: tooMuch }], "allowance too low");
    await this.refused(
      "eth_call",
      [{ from: other, to: token, data: tooMuch }, "latest"],
      "allowance too low",
    );
    await this.write(token, other, "transferFrom", [owner, other, 5n]);
    expect((await this.balance(token, other)) === 5n, "what was allowed is transferred");
  }

  private async travels({ token, owner, other }: Fixture): Promise<void> {
    await this.rpc("evm_increaseTime", [toHex(86_400)]);
    await this.rpc("evm_mine");
    const { timestamp } = await this.rpc<{ readonly timestamp: Hex }>("eth_getBlockByNumber", [
      "latest",
      false,
    ]);
    await this.rpc("evm_setNextBlockTimestamp", [toHex(BigInt(timestamp) + 3600n)]);
    const { blockNumber } = await this.write(token, owner, "transfer", [other, 7n]);
    const block = await this.rpc<{ readonly timestamp: Hex }>("eth_getBlockByNumber", [blockNumber, false]);
    expect(BigInt(block.timestamp) === BigInt(timestamp) + 3600n, "the block has the time that was set");
  }

  private async impersonations({ token, owner }: Fixture): Promise<void> {
    await this.rpc("hardhat_setBalance", [KEYLESS, toHex(parseEther("10"))]);
    await this.rpc("hardhat_impersonateAccount", [KEYLESS]);
    await this.write(token, owner, "transfer", [KEYLESS, 9n]);
    await this.write(token, KEYLESS, "transfer", [owner, 4n]);
    await this.rpc("hardhat_stopImpersonatingAccount", [KEYLESS]);
    expect((await this.balance(token, KEYLESS)) === 5n, "the account without key has sent");
  }

  private async write(
    token: Hex,
    from: Hex,
    functionName: string,
    args: readonly unknown[],
  ): Promise<Receipt> {
    const data = encodeFunctionData({ abi: TOKEN.abi, functionName, args });
    return this.send({ from, to: token, data });
  }

  /** The requests of ethers for a transaction and `wait()`. anvil may have the receipt only a little later than it gives the hash. */
  private async send(transaction: object): Promise<Receipt> {
    const gas = await this.rpc<Hex>("eth_estimateGas", [transaction]);
    const hash = await this.rpc<Hex>("eth_sendTransaction", [{ ...transaction, gas }]);
    expect((await this.rpc("eth_getTransactionByHash", [hash])) !== null, "the transaction is known");
    let receipt: Receipt | null = null;
    while (receipt === null) receipt = await this.rpc<Receipt | null>("eth_getTransactionReceipt", [hash]);
    expect(receipt.status === "0x1", "the transaction succeeds");
    return receipt;
  }

  private async balance(token: Hex, account: Hex): Promise<bigint> {
    const data = encodeFunctionData({ abi: TOKEN.abi, functionName: "balanceOf", args: [account] });
    return BigInt(await this.rpc<Hex>("eth_call", [{ to: token, data }, "latest"]));
  }

  private async refused(method: string, params: readonly unknown[], reason: string): Promise<void> {
    const message = await this.rpc(method, params).then(
      () => "",
      (error: unknown) => (error instanceof Refused ? error.message : Promise.reject(error)),
    );
    expect(message.includes(reason), `the refusal says "${reason}", not "${message}"`);
  }

  private async rpc<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    const startedAt = performance.now();
    const text = await this.ask(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    const before = this.times.get(method) ?? { requests: 0, milliseconds: 0 };
    this.times.set(method, {
      requests: before.requests + 1,
      milliseconds: before.milliseconds + performance.now() - startedAt,
    });
    const answer = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as {
      readonly result: T;
      readonly error?: { readonly message: string };
    };
    if (answer.error !== undefined) throw new Refused(`${method}: ${answer.error.message}`);
    return answer.result;
  }
}

const KINDS = ["transfers", "refusals", "travels", "impersonations"] as const;

function expect(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not so: ${what}`);
}
