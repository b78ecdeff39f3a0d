import { type Abi, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { afterEach, describe, expect } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { ADMIN_NAME, permissionIngress, RULES_NAME } from "../../contracts/permissionIngress.ts";
import { permissionRules } from "../../contracts/permissionRules.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, type RpcFailure, until } from "../harness/nodeProcess.ts";
import {
  CHAIN_ID,
  enodeOf,
  type Member,
  prepareNetwork,
  type ValidatorNetwork,
} from "../harness/validatorNetwork.ts";

const { Admin, AccountIngress, AccountRules, NodeIngress, NodeRules } = permissionIngress();
const ACCOUNT_INGRESS = `0x${"00".repeat(18)}8888` as const;
const NODE_INGRESS = `0x${"00".repeat(18)}9999` as const;
const ASKS_ACCOUNTS = [
  "--permissions-accounts-contract-enabled",
  `--permissions-accounts-contract-address=${ACCOUNT_INGRESS}`,
];
const asksNodes = (version: 1 | 2) => [
  "--permissions-nodes-contract-enabled",
  `--permissions-nodes-contract-address=${NODE_INGRESS}`,
  `--permissions-nodes-contract-version=${version}`,
];

let network: ValidatorNetwork | undefined;
afterEach(() => network?.stopAll());

const heightOf = async (node: NodeProcess) => Number(await node.rpc("eth_blockNumber"));
const peersOf = async (node: NodeProcess) => Number(await node.rpc("net_peerCount"));

function hasPeers(node: NodeProcess, count: number): Promise<boolean> {
  return until(async () => ((await peersOf(node)) === count ? true : undefined), `${count} peers`);
}

/** Waits until all have so many blocks more than the first one has now. */
async function allReach(nodes: readonly NodeProcess[], more: number): Promise<void> {
  const [first] = nodes;
  if (first === undefined) throw new Error("there is one");
  const height = (await heightOf(first)) + more;
  for (const node of nodes)
    await until(async () => ((await heightOf(node)) >= height ? true : undefined), `block ${height}`);
}

async function stopAllAtOnce(nodes: readonly NodeProcess[]): Promise<void> {
  expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual(nodes.map(() => 0));
}

describe("four validators with a contract of nodes and shared bootnodes", () => {
  itIfThorough.each([
    [1, 1],
    [1, 2],
    [2, 1],
    [2, 4],
  ] as const)(
    "start together, make blocks, and do so again (version %i, %i bootnodes)",
    async (version, bootnodes) => {
      const rules = permissionRules();
      network = await prepareNetwork({
        validators: 4,
        bootnodes,
        contracts: { [NODE_INGRESS]: (version === 1 ? rules.NodeRules : rules.NodeRulesV2).runtime },
        options: asksNodes(version),
      });
      const nodes = await network.startAll();
      await allReach(nodes, 3);
      for (const node of nodes) await hasPeers(node, 3);
      await stopAllAtOnce(nodes);
      const again = await network.startAll();
      await allReach(again, 3);
      for (const node of again) await hasPeers(node, 3);
      // A kill leaves nothing said to the others, and no node knows who comes back first.
      await network.stopAll();
      await allReach(await network.startAll(), 3);
    },
  );
});

/** An account that sends transactions one after another. */
function aSender(who: number, node: NodeProcess) {
  const { privateKey, address } = account(who);
  let nonce = 0n;
  const sign = (to: Hex | undefined, data: Hex): SentTransaction =>
    aTransaction({
      chainId: CHAIN_ID,
      privateKey,
      nonce,
      gasPrice: 0n,
      value: 0n,
      gasLimit: 3_000_000n,
      to: to && (hexToBytes(to) as Address),
      data: hexToBytes(data),
    });
  async function mine(transaction: SentTransaction): Promise<void> {
    const hash = toHex(transaction.hash);
    expect(await node.rpc("eth_sendRawTransaction", [toHex(transaction.raw)])).toBe(hash);
    const receipt = await until(
      async () =>
        (await node.rpc<{ readonly status: Hex } | null>("eth_getTransactionReceipt", [hash])) ?? undefined,
      "a receipt",
    );
    expect(receipt.status).toBe("0x1");
    nonce++;
  }
  return {
    name: toHex(address) as Hex,
    sendNothing: () => mine(sign(toHex(address) as Hex, "0x")),
    /** The failure of a transaction that is refused. */
    refusal: () =>
      node.rpc("eth_sendRawTransaction", [toHex(sign(toHex(address) as Hex, "0x").raw)]).then(
        () => undefined,
        ({ code, message }: RpcFailure) => ({ code, message }),
      ),
    call: (to: Hex, abi: Abi, functionName: string, args: readonly unknown[]) =>
      mine(sign(to, encodeFunctionData({ abi, functionName, args }))),
    async deploy(
      { abi, bytecode }: { readonly abi: Abi; readonly bytecode: Hex },
      args: readonly unknown[] = [],
    ) {
      const at = getContractAddress({ from: toHex(address) as Hex, nonce });
      await mine(sign(undefined, encodeDeployData({ abi, bytecode, args })));
      return at;
    },
  };
}

function enodeParts(member: Member): readonly [id: string, ip: string, port: number] {
  const { username, port } = new URL(enodeOf(member));
  return [username, "127.0.0.1", Number(port)];
}

const REFUSED = { code: -32007, message: "Sender account not authorized to send transactions" };

describe("a network with the public contracts' ingresses in its genesis file", () => {
  itIfThorough("gets its rules while it runs, and votes accounts and nodes out and in", async () => {
    network = await prepareNetwork({
      validators: 4,
      followers: 2,
      bootnodes: 4,
      contracts: { [ACCOUNT_INGRESS]: AccountIngress.runtime, [NODE_INGRESS]: NodeIngress.runtime },
      options: [...ASKS_ACCOUNTS, ...asksNodes(2)],
    });
    const { members } = network;
    // Without rules the ingress of nodes permits nobody, except for bootnodes that have no other peers.
    const [, , , lastMember, , newcomer] = members;
    if (lastMember === undefined || newcomer === undefined) throw new Error("there are six");
    const { start } = network;
    const nodes = await Promise.all(members.slice(0, 5).map((member) => start(member)));
    const [first, , , last, follower] = nodes;
    if (first === undefined || last === undefined || follower === undefined)
      throw new Error("there are five");
    await allReach(nodes.slice(0, 4), 1);

    const operator = aSender(0, first);
    const admin = await operator.deploy(Admin);
    const nodeRules = await operator.deploy(NodeRules, [NODE_INGRESS]);
    for (const member of members)
      await operator.call(nodeRules, NodeRules.abi, "addEnode", enodeParts(member));
    await operator.call(NODE_INGRESS, NodeIngress.abi, "setContractAddress", [RULES_NAME, nodeRules]);
    await operator.call(NODE_INGRESS, NodeIngress.abi, "setContractAddress", [ADMIN_NAME, admin]);
    for (const node of nodes) await hasPeers(node, 4);

    const user = aSender(1, first);
    await user.sendNothing();
    const accountRules = await operator.deploy(AccountRules, [ACCOUNT_INGRESS]);
    await operator.call(ACCOUNT_INGRESS, AccountIngress.abi, "setContractAddress", [ADMIN_NAME, admin]);
    await operator.call(ACCOUNT_INGRESS, AccountIngress.abi, "setContractAddress", [
      RULES_NAME,
      accountRules,
    ]);
    expect(await user.refusal()).toEqual(REFUSED);
    await operator.call(accountRules, AccountRules.abi, "addAccount", [user.name]);
    await user.sendNothing();
    await operator.call(accountRules, AccountRules.abi, "removeAccount", [user.name]);
    expect(await user.refusal()).toEqual(REFUSED);

    await operator.call(nodeRules, NodeRules.abi, "removeEnode", enodeParts(lastMember));
    const others = nodes.filter((node) => node !== last);
    for (const node of others) await hasPeers(node, 3);
    await hasPeers(last, 0);
    const heightThen = await heightOf(last);
    await allReach(others, 3);
    expect(await heightOf(last)).toBe(heightThen);
    await operator.call(nodeRules, NodeRules.abi, "addEnode", enodeParts(lastMember));
    for (const node of nodes) await hasPeers(node, 4);
    await allReach(nodes, 2);

    // The genesis block's state permits it to call nobody, and it judges each block by the state of its parent.
    const late = await start(newcomer);
    await allReach([first, late], 2);
    for (const node of [...nodes, late]) await hasPeers(node, 5);

    await stopAllAtOnce([...nodes, late]);
    const again = await network.startAll();
    await allReach(again, 3);
    for (const node of again) await hasPeers(node, 5);
    const [firstAgain] = again;
    if (firstAgain === undefined) throw new Error("there are five");
    expect(await aSender(2, firstAgain).refusal()).toEqual(REFUSED);
  });
});
