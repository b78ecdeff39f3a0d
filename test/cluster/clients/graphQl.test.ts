import { spawnSync } from "node:child_process";
import { ClientError, GraphQLClient, gql } from "graphql-request";
import { createPublicClient, createWalletClient, defineChain, http, parseEther } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DEV_MNEMONIC } from "../../../src/config/devNetwork.ts";
import { isAsPrinted, shellBlocksOf } from "../../docs/manual.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { freePort, type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

/** What users do with GraphQL: with graphql-request, and with the commands of the page about it. */

const PAGE = "docs/graphql.md";
const TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** Creates a contract without code, whose constructor logs once, without topics. */
const LOGS_ONCE = "0x5f5fa05f5ff3";

const WAITING = { timeout: HANG_MS, interval: 100 };

let node: NodeProcess;
let url: string;

beforeAll(async () => {
  ({ node, url } = await startGraphQlNode([]));
});

afterAll(async () => {
  expect(await node.stop()).toBe(0);
});

async function startGraphQlNode(options: readonly string[]) {
  const port = await freePort();
  const graphQl = ["--graphql-http-enabled", `--graphql-http-port=${port}`];
  const started = await startNodeProcess({ options: [...graphQl, ...options] });
  return { node: started, url: `http://127.0.0.1:${port}/graphql` };
}

describe("graphql-request", () => {
  const account = mnemonicToAccount(DEV_MNEMONIC);

  function clients() {
    const chain = defineChain({
      id: 1337,
      name: "Ibex development",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [node.httpUrl] } },
    });
    return {
      client: new GraphQLClient(url),
      reader: createPublicClient({ chain, transport: http(), pollingInterval: 100 }),
      wallet: createWalletClient({ account, chain, transport: http() }),
    };
  }

  it("sends a transaction, and reads its block with the receipt and the accounts in one request", async () => {
    const { client, reader, wallet } = clients();
    const value = parseEther("1");
    const before = await reader.getBalance({ address: TO });
    const prepared = await wallet.prepareTransactionRequest({ to: TO, value });
    const data = await wallet.signTransaction(prepared);
    const send = gql`mutation Send($data: Bytes!) { sendRawTransaction(data: $data) }`;
    const sent = await client.request<{ sendRawTransaction: `0x${string}` }>(send, { data });
    const hash = sent.sendRawTransaction;
    const receipt = await reader.waitForTransactionReceipt({ hash });
    const answer = await client.request(
      gql`
        query Mined($n: Long!, $hash: Bytes32!) {
          block(number: $n) { ...Names transactions { ...Receipt } }
          transaction(hash: $hash) { block { ...Names } index }
        }
        fragment Names on Block { number hash }
        fragment Receipt on Transaction { hash value status gasUsed from { address } to { address balance } logs { index } }
      `,
      { n: `0x${receipt.blockNumber.toString(16)}`, hash },
    );
    const names = { number: `0x${receipt.blockNumber.toString(16)}`, hash: receipt.blockHash };
    expect(answer).toEqual({
      block: {
        ...names,
        transactions: [
          {
            hash,
            value: `0x${value.toString(16)}`,
            status: "0x1",
            gasUsed: "0x5208",
            from: { address: account.address.toLowerCase() },
            to: { address: TO.toLowerCase(), balance: `0x${(before + value).toString(16)}` },
            logs: [],
          },
        ],
      },
      transaction: { block: names, index: "0x0" },
    });

    const again = client.request(send, { data });
    await expect(again).rejects.toThrow(ClientError);
    const { response } = await again.catch((error: ClientError) => error as ClientError);
    expect(response).toMatchObject({
      status: 400,
      errors: [
        { path: ["sendRawTransaction"], extensions: { errorCode: -32001, errorMessage: "Nonce too low" } },
      ],
    });
  });

  itIfThorough(
    "searches logs and blocks from block 0 on the development network after 1,000 blocks",
    async () => {
      const { client, reader, wallet } = clients();
      const prepared = await wallet.prepareTransactionRequest({ data: LOGS_ONCE });
      const hash = await wallet.sendTransaction(prepared);
      const { blockNumber, contractAddress } = await reader.waitForTransactionReceipt({ hash });
      await node.rpc("hardhat_mine", ["0x44c"]);
      const { logs } = await client.request<{ readonly logs: readonly unknown[] }>(
        gql`query Logs($from: [Address!]) {
        logs(filter: { fromBlock: 0, addresses: $from, topics: [] }) { account { address } transaction { block { number } } }
      }`,
        { from: [contractAddress] },
      );
      const number = `0x${blockNumber.toString(16)}`;
      expect(logs).toEqual([{ account: { address: contractAddress }, transaction: { block: { number } } }]);
      const { blocks } = await client.request<{ readonly blocks: readonly { readonly number: string }[] }>(
        "{ blocks(from: 0) { number } }",
      );
      expect(blocks.length).toBeGreaterThan(1_100);
      expect(blocks.map(({ number: at }) => Number(at))).toEqual(blocks.map((_, at) => at));
    },
  );

  itIfThorough("is told the limit of a range and its option on another network", async () => {
    const other = await startGraphQlNode([
      "--genesis-file=genesis/dev.json",
      "--node-private-key-file=genesis/dev.key",
      "--rpc-http-enabled",
      "--p2p-enabled=false",
      "--rpc-max-logs-range=2",
    ]);
    onTestFinished(other.node.kill);
    const client = new GraphQLClient(other.url);
    await expect
      .poll(() => other.node.rpc<string>("eth_blockNumber").then(Number), WAITING)
      .toBeGreaterThan(2);
    for (const query of [
      "{ blocks(from: 0) { number } }",
      "{ logs(filter: { fromBlock: 0, topics: [] }) { index } }",
    ])
      await expect(client.request(query)).rejects.toMatchObject({
        response: {
          status: 400,
          errors: [
            {
              message: expect.stringContaining("--rpc-max-logs-range allows 2 blocks"),
              extensions: { errorCode: -32005 },
            },
          ],
        },
      });
  });

  it("reads the schema, as tools that make types of it do", async () => {
    const { client } = clients();
    const { __schema } = await client.request<{ __schema: { types: { name: string }[] } }>(
      gql`{ __schema { queryType { name } types { kind name } } }`,
    );
    const names = __schema.types.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Block", "Transaction", "Account", "Log", "Pending"]));
  });

  it("names what a query has wrong", async () => {
    const { client } = clients();
    await expect(client.request("{ block { nope } }")).rejects.toThrow(
      /Field 'nope' in type 'Block' is undefined/,
    );
  });
});

describe("the commands of the page about GraphQL", () => {
  const blocks = shellBlocksOf(PAGE);

  it("are there", () => {
    expect(blocks.length).toBeGreaterThan(5);
  });

  it.each(blocks.map(({ code, printed }) => ({ code, printed })))("$code", ({ code, printed }) => {
    const { stdout, stderr } = spawnSync("bash", ["-e"], {
      input: code.replaceAll("http://localhost:8547/graphql", url),
      encoding: "utf8",
    });
    const answer = JSON.parse(stdout) as { readonly data?: object; readonly errors?: unknown };
    expect({ stderr, errors: answer.errors }).toEqual({ stderr: "", errors: undefined });
    expect(Object.keys(answer.data ?? {})).not.toEqual([]);
    if (printed !== undefined && !isAsPrinted(stdout, printed)) expect(stdout).toBe(printed);
  });
});
