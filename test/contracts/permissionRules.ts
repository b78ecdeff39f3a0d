import { compileSource } from "./compile.ts";

/*
 * Contracts with the interfaces that Besu asks: accounts, and nodes in both versions. Each may be told to misbehave.
 */

const COMMON = `
  uint8 public mode;
  function misbehave(uint8 how) external { mode = how; }
  function answer(bytes32 said) internal view returns (bytes32) {
    if (mode == 1) revert("out of order");
    uint256 x;
    while (mode == 2) x++;
    if (mode == 3) return bytes32(uint256(2));
    if (mode == 4) assembly { return(0, 31) }
    return said;
  }`;

const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract AccountRules {
  ${COMMON}
  mapping(address => bool) public isDenied;
  bytes public expected;
  function setDenied(address who, bool denied) external { isDenied[who] = denied; }
  function transactionAllowed(address sender, address, uint256, uint256, uint256, bytes calldata)
    external view returns (bytes32)
  {
    return answer(bytes32(uint256(isDenied[sender] ? 0 : 1)));
  }
}
contract NodeRules {
  ${COMMON}
  mapping(bytes32 => bool) public isDenied;
  function setDenied(bytes32 half, bool denied) external { isDenied[half] = denied; }
  function connectionAllowed(bytes32 source, bytes32, bytes16, uint16, bytes32 target, bytes32, bytes16, uint16)
    external view returns (bytes32)
  {
    bytes32 allowed = bytes32(type(uint256).max);
    return answer(isDenied[source] || isDenied[target] ? allowed >> 1 : allowed);
  }
}
contract NodeRulesV2 {
  ${COMMON}
  mapping(bytes32 => bool) public isDenied;
  function setDenied(string calldata nodeId, bool denied) external { isDenied[keccak256(bytes(nodeId))] = denied; }
  function connectionAllowed(string calldata nodeId, string calldata, uint16) external view returns (bytes32) {
    return answer(bytes32(uint256(isDenied[keccak256(bytes(nodeId))] ? 0 : 1)));
  }
}`;

/** How a contract misbehaves, by the number that \`misbehave\` takes. */
export const MODE = { answers: 0, reverts: 1, loops: 2, answersTwo: 3, answersShort: 4 } as const;

export function permissionRules() {
  return compileSource(SOURCE, ["AccountRules", "NodeRules", "NodeRulesV2"], "paris");
}
