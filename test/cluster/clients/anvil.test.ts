import { encodeFunctionData, type Hex, keccak256, pad, toEventSelector, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileSampleContracts } from "../../contracts/sampleContracts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { createComparison } from "../harness/answerComparison.ts";
import { blockHashes, comparableAnswers, finishedHead } from "../harness/anvilAnswers.ts";
import { LISTED } from "../harness/anvilDifferences.ts";
import {
  type AnvilProcess,
  anvilBinary,
  BESIDE_ANVIL,
  mineAlike,
  startAnvilProcess,
} from "../harness/anvilProcess.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";
import { HEIR, makeVariedChain, SALT, type VariedChain, word } from "../harness/variedChain.ts";

const TRACERS = [
  ["callTracer", { withLog: true }],
  ["callTracer", { onlyTopCall: true }],
  ["prestateTracer", {}],
  ["prestateTracer", { diffMode: true }],
] as const;

const binary = anvilBinary();

describe.skipIf(!IS_THOROUGH || binary === undefined)("the same chain on anvil", () => {
  let node: NodeProcess;
  let anvil: AnvilProcess;
  let chain: VariedChain;
  let headNumber: number;
  let hashesOf: Record<"ours" | "theirs", readonly Hex[]>;
  let comparison: ReturnType<typeof createComparison>;

  beforeAll(async () => {
    const compiled = compileSampleContracts();
    node = await startNodeProcess({ options: BESIDE_ANVIL });
    anvil = await startAnvilProcess(binary as string);
    chain = await makeVariedChain(node, compiled);
    await node.rpc("miner_stop");
    headNumber = await finishedHead(node);
    await mineAlike(anvil, node, new Map(chain.sent.map(({ hash, raw }) => [hash, raw])), headNumber);
    hashesOf = {
      ours: await blockHashes(node, headNumber),
      theirs: await blockHashes(anvil, headNumber),
    };
    comparison = createComparison(node.rpc, anvil.rpc, LISTED, comparableAnswers(hashesOf));
  });

  afterAll(async () => {
    await anvil?.stop();
    expect(await node?.stop()).toBe(0);
  });

  const compare: typeof comparison.compare = (...request) => comparison.compare(...request);
  const accounts = () => [chain.maker, chain.unfunded, HEIR, ...Object.values(chain.contracts)];
  const blocks = () => Array.from({ length: headNumber + 1 }, (_, number) => toHex(number));
  const blockOf = async (name: string) =>
    (await node.rpc<{ blockNumber: Hex }>("eth_getTransactionReceipt", [chain.hashes[name]])).blockNumber;
  const busyBlocks = async () => [...new Set(await Promise.all(Object.keys(chain.hashes).map(blockOf)))];
  const toZoo = (functionName: string, args: readonly unknown[] = []) => ({
    from: chain.maker,
    to: chain.contracts.zoo,
    data: encodeFunctionData({ abi: chain.abis.Zoo, functionName, args }),
  });
  const toToken = (functionName: string, args: readonly unknown[] = []) => ({
    from: chain.maker,
    to: chain.contracts.token,
    data: encodeFunctionData({ abi: chain.abis.Token, functionName, args }),
  });
  /** Calls with every kind of result; calls that read the block itself are compared separately. */
  const calls = () => [
    toToken("balanceOf", [HEIR]),
    toToken("transfer", [HEIR, 1n]),
    toToken("transfer", [HEIR, 10n ** 9n]),
    toZoo("value"),
    toZoo("breed", [5n]),
    { ...toZoo("breed", [5n]), value: "0x5" },
    toZoo("breedAt", [SALT, 9n]),
    toZoo("breedAndBury", [HEIR]),
    toZoo("endure", [chain.contracts.salted]),
    toZoo("provoke", [chain.contracts.salted]),
    toZoo("provoke", [chain.contracts.child]),
    toZoo("write", [9n, 9n]),
    toZoo("write", [1n, 0n]),
    toZoo("rewrite", [8n]),
    toZoo("hash", ["0x616263"]),
    toZoo("transient", [4n]),
    toZoo("recurse", [5n]),
    toZoo("close"),
    toZoo("silent"),
    toZoo("broken"),
    toZoo("divide", [7n]),
    toZoo("divide", [0n]),
    { from: chain.maker, to: HEIR, value: "0x1" },
    { to: HEIR },
    { from: chain.maker, data: "0x60016000f3" },
    { from: chain.maker, data: "0x60006000fd" },
    { to: "0x0000000000000000000000000000000000000002", data: "0x616263" },
    { to: "0x0000000000000000000000000000000000000009", data: "0x616263" },
    { ...toZoo("value"), input: toZoo("value").data },
  ];

  it("has the same blocks and transactions", async () => {
    for (const block of blocks()) {
      await compare("eth_getBlockByNumber", [block, false]);
      await compare("eth_getBlockByNumber", [block, true]);
      await compare("eth_getBlockTransactionCountByNumber", [block]);
      await compare("eth_getUncleCountByBlockNumber", [block]);
      await compare("eth_getBlockReceipts", [block]);
      await compare("eth_getTransactionByBlockNumberAndIndex", [block, "0x0"]);
      const [ours, theirs] = [hashesOf.ours[Number(block)], hashesOf.theirs[Number(block)]];
      await compare("eth_getBlockByHash", [ours, true], [theirs, true]);
      await compare("eth_getBlockTransactionCountByHash", [ours], [theirs]);
      await compare("eth_getUncleCountByBlockHash", [ours], [theirs]);
      await compare("eth_getTransactionByBlockHashAndIndex", [ours, "0x1"], [theirs, "0x1"]);
    }
    const beforeZeroes = [await blockOf("approve"), false];
    expect(await anvil.rpc("eth_getBlockByNumber", beforeZeroes)).toMatchObject({
      stateRoot: (await node.rpc<{ stateRoot: Hex }>("eth_getBlockByNumber", beforeZeroes)).stateRoot,
    });
    for (const hash of Object.values(chain.hashes)) {
      await compare("eth_getTransactionByHash", [hash]);
      await compare("eth_getTransactionReceipt", [hash]);
    }
    await compare("eth_getBlockByNumber", ["latest", false]);
    await compare("eth_getBlockByNumber", ["0xffffff", true]);
    await compare("eth_getBlockByHash", [keccak256("0x"), true]);
    await compare("eth_getTransactionByHash", [keccak256("0x")]);
    await compare("eth_getTransactionReceipt", [keccak256("0x")]);
    await compare("eth_getUncleByBlockNumberAndIndex", ["latest", "0x0"]);
    await compare("eth_feeHistory", ["0x4", "latest", [0, 25, 50, 100]]);
    await compare("eth_feeHistory", ["0x1", "latest"]);
    expect(comparison.unexplained()).toEqual([]);
  });

  it("has the same state and the same proofs", async () => {
    const first = await blockOf("approve");
    for (const block of ["0x0", ...(await busyBlocks())]) {
      const proof = Number(block) > Number(first) ? "eth_getProof later" : "eth_getProof";
      for (const account of accounts()) {
        await compare("eth_getBalance", [account, block]);
        await compare("eth_getTransactionCount", [account, block]);
        await compare("eth_getCode", [account, block]);
        await compare("eth_getStorageAt", [account, "0x0", block]);
        await compare(proof, [account, [], block]);
      }
      const slot = keccak256(`0x${word(3n)}${word(1n)}`);
      await compare("eth_getStorageAt", [chain.contracts.zoo, slot, block]);
      await compare(proof, [chain.contracts.zoo, [`0x${word(0n)}`, slot, SALT], block]);
    }
    expect(comparison.unexplained()).toEqual([]);
  });

  it("finds the same logs by every form of filter", async () => {
    const { token, zoo } = chain.contracts;
    const transfer = toEventSelector("Transfer(address,address,uint256)");
    const born = toEventSelector("Born(address,uint256,bytes32,string)");
    const all = { fromBlock: "0x0", toBlock: "latest" };
    const filters = [
      all,
      {},
      { fromBlock: "earliest" },
      { ...all, address: token },
      { ...all, address: [token, zoo] },
      { ...all, address: HEIR },
      { ...all, topics: [] },
      { ...all, topics: [transfer] },
      { ...all, topics: [[transfer, born]] },
      { ...all, topics: [null, pad(chain.maker)] },
      { ...all, topics: [transfer, null, [pad(HEIR), pad(zoo)]] },
      { ...all, topics: [born, null, null, SALT] },
      { ...all, address: zoo, topics: [transfer] },
      { fromBlock: "0x2", toBlock: "0x1" },
      { fromBlock: "latest", toBlock: "latest" },
      ...(await busyBlocks()).map((block) => ({ fromBlock: block, toBlock: block })),
    ];
    for (const filter of filters) {
      await compare("eth_getLogs", [filter]);
      const ids = [await node.rpc("eth_newFilter", [filter]), await anvil.rpc("eth_newFilter", [filter])];
      await compare("eth_getFilterLogs", [ids[0]], [ids[1]]);
      await compare("eth_uninstallFilter", [ids[0]], [ids[1]]);
      await compare("eth_uninstallFilter", [ids[0]], [ids[1]]);
    }
    for (const block of await busyBlocks()) {
      const [ours, theirs] = [hashesOf.ours[Number(block)], hashesOf.theirs[Number(block)]];
      await compare("eth_getLogs", [{ blockHash: ours }], [{ blockHash: theirs }]);
      await compare(
        "eth_getLogs",
        [{ blockHash: ours, address: zoo }],
        [{ blockHash: theirs, address: zoo }],
      );
    }
    await compare("eth_getLogs any topics", [{ ...all, topics: [null, null, null, null] }]);
    await compare("eth_getLogs unknown block", [{ blockHash: keccak256("0x") }]);
    await compare("eth_getFilterChanges", ["0x1234"]);
    expect(comparison.unexplained()).toEqual([]);
  });

  it("calls and estimates alike, whatever the result of the call", async () => {
    const { salted } = chain.contracts;
    const peculiar = [
      [" burning gas", toZoo("lend", [salted, 3n])],
      [" burning gas", toZoo("breedAt", [SALT, 8n])],
      [" without funds", { from: chain.unfunded, to: HEIR, value: "0x1" }],
      [" with gas", { ...toZoo("value"), gas: "0x100" }],
      [" with gas", { ...toZoo("recurse", [5n]), gas: "0x9000" }],
    ] as const;
    for (const [form, call] of [...calls().map((call) => ["", call] as const), ...peculiar])
      for (const method of ["eth_call", "eth_estimateGas", "eth_createAccessList"])
        await compare(`${method}${form}`, [call, "latest"]);
    const code = { [HEIR]: { balance: "0x5", nonce: "0x7", code: "0x4760005260206000f3" } };
    const state = { [chain.contracts.zoo]: { stateDiff: { [`0x${word(0n)}`]: `0x${word(99n)}` } } };
    await compare("eth_call", [{ to: HEIR }, "latest", code]);
    await compare("eth_call", [toZoo("value"), "latest", state]);
    await compare("eth_call", [toZoo("surroundings"), "latest"]);
    await compare("eth_call", [toToken("balanceOf", [HEIR]), "0x0"]);
    await compare("eth_call", [toToken("balanceOf", [HEIR]), "0xffffff"]);
    expect(comparison.unexplained()).toEqual([]);
  });

  it("traces every transaction alike", async () => {
    for (const hash of Object.values(chain.hashes)) {
      await compare("debug_traceTransaction structLogs", [hash]);
      for (const [tracer, tracerConfig] of TRACERS) {
        const label = ["debug_traceTransaction", tracer, ...Object.keys(tracerConfig)].join(" ");
        await compare(label, [hash, { tracer, tracerConfig }]);
      }
    }
    const outOfGas = { ...toZoo("recurse", [5n]), gas: "0x9000" };
    const tooLittle = { ...toZoo("value"), gas: "0x100" };
    for (const call of [...calls(), outOfGas, tooLittle])
      await compare("debug_traceCall callTracer", [call, "latest", { tracer: "callTracer" }]);
    expect(comparison.unexplained()).toEqual([]);
  });

  it("reports the same chain parameters", async () => {
    await compare("eth_chainId");
    await compare("eth_blockNumber");
    await compare("eth_syncing");
    await compare("eth_accounts");
    await compare("eth_gasPrice");
    await compare("eth_maxPriorityFeePerGas");
    await compare("eth_blobBaseFee");
    await compare("net_version");
    await compare("net_listening");
    await compare("web3_sha3", ["0x68656c6c6f"]);
    await compare("web3_clientVersion");
    await compare("eth_sendRawTransaction", [chain.sent[0]?.raw]);
    await compare("eth_sendRawTransaction", ["0x1234"]);
    await compare("eth_noSuchMethod");
    expect(comparison.unexplained()).toEqual([]);
  });

  it("needs every listed reason", () => {
    expect(comparison.unused()).toEqual([]);
  });
});
