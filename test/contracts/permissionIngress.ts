import { compileSource } from "./compile.ts";

/*
 * Contracts with the interface of the public permissioning contracts (ConsenSys/permissioning-smart-contracts) and their
 * indirection: the node asks an ingress, whose address never changes; a registry in it names the contract with the rules, and the
 * one with the administrators, who alone may change either. Both ingresses work from a genesis file, where no constructor runs.
 */

const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Admin {
  mapping(address => bool) public isAuthorized;
  modifier byAdmin() { require(isAuthorized[msg.sender], "Sender not authorized"); _; }
  constructor() { isAuthorized[msg.sender] = true; }
  function addAdmin(address who) external byAdmin returns (bool) { isAuthorized[who] = true; return true; }
  function removeAdmin(address who) external byAdmin returns (bool) {
    require(who != msg.sender, "own account");
    isAuthorized[who] = false;
    return true;
  }
}
abstract contract Ingress {
  bytes32 public constant RULES_CONTRACT = "rules";
  bytes32 public constant ADMIN_CONTRACT = "administration";
  mapping(bytes32 => address) internal registry;
  event RegistryUpdated(address contractAddress, bytes32 contractName);
  function getContractAddress(bytes32 name) public view returns (address) { return registry[name]; }
  function isAuthorized(address who) public view returns (bool) {
    address admin = registry[ADMIN_CONTRACT];
    return admin == address(0) || Admin(admin).isAuthorized(who);
  }
  function setContractAddress(bytes32 name, address at) external returns (bool) {
    require(isAuthorized(msg.sender), "Not authorized to update contract registry.");
    registry[name] = at;
    emit RegistryUpdated(at, name);
    return true;
  }
}
abstract contract Rules {
  Ingress internal immutable ingress;
  modifier byAdmin() { require(ingress.isAuthorized(msg.sender), "Sender not authorized"); _; }
  constructor(Ingress given) { ingress = given; }
}
contract AccountRules is Rules {
  mapping(address => bool) public accountPermitted;
  constructor(Ingress given) Rules(given) { accountPermitted[msg.sender] = true; }
  function addAccount(address who) external byAdmin returns (bool) { accountPermitted[who] = true; return true; }
  function removeAccount(address who) external byAdmin returns (bool) { accountPermitted[who] = false; return true; }
  function transactionAllowed(address sender, address, uint256, uint256, uint256, bytes calldata)
    external view returns (bool)
  {
    return accountPermitted[sender];
  }
}
contract AccountIngress is Ingress {
  function transactionAllowed(
    address sender, address target, uint256 value, uint256 gasPrice, uint256 gasLimit, bytes calldata payload
  ) external view returns (bool) {
    address rules = registry[RULES_CONTRACT];
    if (rules == address(0)) return true;
    return AccountRules(rules).transactionAllowed(sender, target, value, gasPrice, gasLimit, payload);
  }
}
contract NodeRules is Rules {
  mapping(bytes32 => bool) internal permitted;
  constructor(Ingress given) Rules(given) {}
  function key(string calldata id, string calldata ip, uint16 port) internal pure returns (bytes32) {
    return keccak256(abi.encode(id, ip, port));
  }
  function addEnode(string calldata id, string calldata ip, uint16 port) external byAdmin returns (bool) {
    permitted[key(id, ip, port)] = true;
    return true;
  }
  function removeEnode(string calldata id, string calldata ip, uint16 port) external byAdmin returns (bool) {
    permitted[key(id, ip, port)] = false;
    return true;
  }
  function connectionAllowed(string calldata id, string calldata ip, uint16 port) external view returns (bool) {
    return permitted[key(id, ip, port)];
  }
}
contract NodeIngress is Ingress {
  function connectionAllowed(string calldata id, string calldata ip, uint16 port) external view returns (bool) {
    address rules = registry[RULES_CONTRACT];
    return rules != address(0) && NodeRules(rules).connectionAllowed(id, ip, port);
  }
}`;

export const RULES_NAME = `0x${Buffer.from("rules").toString("hex").padEnd(64, "0")}` as const;
export const ADMIN_NAME = `0x${Buffer.from("administration").toString("hex").padEnd(64, "0")}` as const;

export function permissionIngress() {
  return compileSource(
    SOURCE,
    ["Admin", "AccountIngress", "AccountRules", "NodeIngress", "NodeRules"],
    "paris",
  );
}
