import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_MNEMONIC } from "../../../src/config/devNetwork.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";
import { npmProject, runInProject } from "../harness/npmProject.ts";

/** OpenZeppelin's upgrades plugin with Hardhat's ethers deploys and upgrades proxies of each kind, on the node as it is shipped. */

const PACKAGES = {
  "@openzeppelin/hardhat-upgrades": "3.9.1",
  "@nomicfoundation/hardhat-ethers": "3.1.3",
  "@openzeppelin/contracts": "5.7.0",
  "@openzeppelin/contracts-upgradeable": "5.7.0",
  ethers: "6.17.0",
  hardhat: "2.29.1",
};

/** The compiler of our own packages, so that none is downloaded. */
const compiler = createRequire(import.meta.url).resolve("solc");

const CONFIGURATION = `
require("@nomicfoundation/hardhat-ethers");
require("@openzeppelin/hardhat-upgrades");
const { subtask } = require("hardhat/config");
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require("hardhat/builtin-tasks/task-names");
const { dirname, join } = require("node:path");
const longVersion = require(${JSON.stringify(compiler)}).version();
const version = longVersion.split("+")[0];
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  ...{ version, longVersion, isSolcJs: true },
  compilerPath: join(dirname(${JSON.stringify(compiler)}), "soljson.js"),
}));
module.exports = {
  solidity: { version, settings: { evmVersion: "cancun" } },
  networks: { localhost: { url: process.env.NODE_URL } },
};
`;

const CONTRACTS = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;
import "@openzeppelin/contracts-upgradeable/access/OwnableUpgradeable.sol";
import "@openzeppelin/contracts-upgradeable/proxy/utils/UUPSUpgradeable.sol";
contract Box is OwnableUpgradeable {
  uint256 public value;
  function initialize(uint256 first) public initializer { __Ownable_init(msg.sender); value = first; }
}
contract BoxV2 is Box {
  function increment() public onlyOwner { value++; }
}
contract Safe is OwnableUpgradeable, UUPSUpgradeable {
  uint256 public value;
  function initialize(uint256 first) public initializer { __Ownable_init(msg.sender); value = first; }
  function _authorizeUpgrade(address) internal override onlyOwner {}
}
contract SafeV2 is Safe {
  function increment() public { value++; }
}
contract Clash is OwnableUpgradeable {
  address public taken;
  uint256 public value;
  function initialize(uint256) public initializer { __Ownable_init(msg.sender); }
}
`;

/** A transaction of an upgrade is waited for, as on every network that makes blocks by the clock. */
const TESTS = `
const { ethers, upgrades } = require("hardhat");
const assert = require("node:assert");
const wallet = ethers.Wallet.fromPhrase("${DEV_MNEMONIC}", ethers.provider);
const factory = (name) => ethers.getContractFactory(name, wallet);
describe("upgrades", () => {
  for (const [kind, first, second] of [["transparent", "Box", "BoxV2"], ["uups", "Safe", "SafeV2"]])
    it(kind, async () => {
      const proxy = await upgrades.deployProxy(await factory(first), [42], { kind });
      await proxy.waitForDeployment();
      const address = await proxy.getAddress();
      const before = await upgrades.erc1967.getImplementationAddress(address);
      assert.equal(await proxy.value(), 42n);
      const upgraded = await upgrades.upgradeProxy(address, await factory(second));
      await upgraded.deployTransaction.wait();
      await (await upgraded.increment()).wait();
      assert.equal(await upgraded.value(), 43n);
      assert.notEqual(await upgrades.erc1967.getImplementationAddress(address), before);
    });
  it("beacon", async () => {
    const beacon = await upgrades.deployBeacon(await factory("Box"));
    await beacon.waitForDeployment();
    const proxies = [];
    for (const value of [1, 2]) {
      const proxy = await upgrades.deployBeaconProxy(beacon, await factory("Box"), [value]);
      await proxy.waitForDeployment();
      proxies.push(await proxy.getAddress());
    }
    await (await upgrades.upgradeBeacon(beacon, await factory("BoxV2"))).deployTransaction.wait();
    for (const [index, address] of proxies.entries()) {
      const box = (await factory("BoxV2")).attach(address);
      await (await box.increment()).wait();
      assert.equal(await box.value(), BigInt(index + 2));
    }
  });
  it("clash", async () => {
    const proxy = await upgrades.deployProxy(await factory("Box"), [42]);
    await proxy.waitForDeployment();
    await assert.rejects(upgrades.upgradeProxy(await proxy.getAddress(), await factory("Clash")), /incompatible/);
  });
});
`;

const project = IS_THOROUGH
  ? await npmProject(PACKAGES, {
      "hardhat.config.js": CONFIGURATION,
      "contracts/Contracts.sol": CONTRACTS,
      "test/upgrades.js": TESTS,
    })
  : undefined;

describe.skipIf(project === undefined)("OpenZeppelin's upgrades", () => {
  let node: NodeProcess;

  beforeAll(async () => {
    node = await startNodeProcess();
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  it("deploys and upgrades transparent, UUPS and beacon proxies, and finds a clash of storage", async () => {
    const environment = { NODE_URL: node.httpUrl, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true" };
    const output = await runInProject(
      project ?? "",
      "hardhat",
      ["test", "--network", "localhost"],
      environment,
    );
    expect(output).toContain("4 passing");
  });
});
