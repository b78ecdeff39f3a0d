import { join } from "node:path";
import { type Address, addressFromHex } from "../primitives/address.ts";
import { hexToBytes } from "../primitives/hex.ts";
import { PACKAGE_FOLDER } from "../primitives/packageFolder.ts";
import { DEVELOPMENT_API_GROUPS, SUPPORTED_API_GROUPS } from "./apiGroups.ts";
import type { OptionName } from "./options.ts";

/**
 * The development network of `npm start` (architecture.md#development-network). All its keys are public on purpose:
 * anyone can make its blocks and spend its ether, so it must never hold anything of value.
 */
export const DEV_GENESIS_FILE = join(PACKAGE_FOLDER, "genesis", "dev.json");

/**
 * The same network as versions before Prague made it. A folder whose chain began with it goes on with it; no other difference than
 * the rules of Prague and their contract.
 */
export const DEV_CANCUN_GENESIS_FILE = join(PACKAGE_FOLDER, "genesis", "dev-cancun.json");

/** keccak256 of "ibex development network validator". */
export const DEV_VALIDATOR_KEY = hexToBytes(
  "0x0653640ac23d3c051394f5a628258649014d1ae26ad81216756591fc12afcbc7",
);

/**
 * The same key as a file. Only `npm start` uses it by default: two nodes with one key would each make a chain of their
 * own, so an operator who passes genesis/dev.json chooses the block producer with --node-private-key-file.
 */
export const DEV_VALIDATOR_KEY_FILE = join(PACKAGE_FOLDER, "genesis", "dev.key");

/** The only validator that genesis/dev.json names. */
export const DEV_VALIDATOR_ADDRESS: Address = addressFromHex("0x4642e184a9ff69dc05a49c4ce7c5286955312977");

interface DevAccount {
  /** Address in checksum case (EIP-55). */
  readonly address: string;
  readonly privateKey: string;
}

export const DEV_MNEMONIC = "test test test test test test test test test test test junk";

/** The first ten accounts of the mnemonic (m/44'/60'/0'/0/n), each funded with 10,000 ether in the genesis block. */
export const DEV_ACCOUNTS: readonly DevAccount[] = [
  {
    address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    privateKey: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  },
  {
    address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    privateKey: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  },
  {
    address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    privateKey: "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  },
  {
    address: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
    privateKey: "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  },
  {
    address: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
    privateKey: "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
  },
  {
    address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    privateKey: "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
  },
  {
    address: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
    privateKey: "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
  },
  {
    address: "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
    privateKey: "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
  },
  {
    address: "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
    privateKey: "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
  },
  {
    address: "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
    privateKey: "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
  },
];

const ALL_GROUPS = [...SUPPORTED_API_GROUPS, ...DEVELOPMENT_API_GROUPS].join(",");

/** The same accounts as bytes, for the node to sign with. */
export const DEV_WALLET: readonly { readonly address: Address; readonly privateKey: Uint8Array }[] =
  DEV_ACCOUNTS.map(({ address, privateKey }) => ({
    address: addressFromHex(address.toLowerCase()),
    privateKey: hexToBytes(privateKey),
  }));

/**
 * Options of the development network. They have the lowest precedence, and none applies once a genesis file, a network
 * or a configuration file is given. All origins are allowed so that any page on the developer's computer may send
 * requests; the host allowlist stays at the loopback names.
 */
export const DEV_PRESET: Readonly<Partial<Record<OptionName, string>>> = {
  "genesis-file": DEV_GENESIS_FILE,
  "rpc-http-enabled": "true",
  "rpc-http-api": ALL_GROUPS,
  "rpc-http-cors-origins": "*",
  // Pages and tools for development networks ask for all logs since block 0. Searches stay bounded in time and bytes.
  "rpc-max-logs-range": "0",
  "rpc-max-trace-filter-range": "0",
  "rpc-ws-enabled": "true",
  "rpc-ws-api": ALL_GROUPS,
  "Xrpc-ipc-api": ["ETH", "NET", "WEB3", ...DEVELOPMENT_API_GROUPS].join(","),
  "explorer-enabled": "true",
  "faucet-enabled": "true",
  "faucet-address-cooldown-seconds": "60",
  "faucet-host-cooldown-seconds": "1",
  // The only validator's private key is public knowledge, so no peers.
  "p2p-enabled": "false",
  "min-gas-price": "0",
  "tx-pool-min-gas-price": "0",
};

/** Options that switch the preset off: they choose a network or a configuration. */
export const OPTIONS_AGAINST_PRESET: readonly OptionName[] = ["config-file", "genesis-file", "network"];
