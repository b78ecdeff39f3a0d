import { compileSource } from "./compile.ts";

/** Tokens of the later standards as far as an index sees them, and one that lies, for tests of what an account did. */
const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Deeds {
  mapping(uint256 => address) private owners;
  string public constant name = "Deeds";
  string public constant symbol = "DEED";
  event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
  function mint(address to, uint256 id) external { owners[id] = to; emit Transfer(address(0), to, id); }
  function transferFrom(address from, address to, uint256 id) external {
    require(owners[id] == from); owners[id] = to; emit Transfer(from, to, id);
  }
  function burn(uint256 id) external { emit Transfer(owners[id], address(0), id); delete owners[id]; }
  function ownerOf(uint256 id) external view returns (address) { require(owners[id] != address(0)); return owners[id]; }
  function tokenURI(uint256) external pure returns (string memory) { return "https://example.org/<img src=x onerror=globalThis.hacked=1>"; }
}
contract Stamps {
  mapping(address => mapping(uint256 => uint256)) public balanceOf;
  event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
  event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values);
  function mint(address to, uint256 id, uint256 value) external {
    balanceOf[to][id] += value; emit TransferSingle(msg.sender, address(0), to, id, value);
  }
  function mintMany(address to, uint256 count) external {
    uint256[] memory ids = new uint256[](count); uint256[] memory values = new uint256[](count);
    for (uint256 i = 0; i < count; i++) { ids[i] = 1000 + i; values[i] = i + 1; balanceOf[to][ids[i]] += values[i]; }
    emit TransferBatch(msg.sender, address(0), to, ids, values);
  }
  function send(address to, uint256 id, uint256 value) external {
    balanceOf[msg.sender][id] -= value; balanceOf[to][id] += value; emit TransferSingle(msg.sender, msg.sender, to, id, value);
  }
}
contract Impostor {
  function name() external pure returns (string memory) { return string(new bytes(1_000_000)); }
  function symbol() external pure returns (string memory) { return "<script>alert(1)</script> and much more than sixty-four characters can hold"; }
  function decimals() external pure { revert("no"); }
  function balanceOf(address) external view returns (uint256) { while (gasleft() > 0) {} return 1; }
  function shout(bytes32 a, bytes32 b, bytes32 c, bytes calldata data) external {
    bytes32 transfer = keccak256("Transfer(address,address,uint256)");
    bytes32 single = keccak256("TransferSingle(address,address,address,uint256,uint256)");
    bytes32 batch = keccak256("TransferBatch(address,address,address,uint256[],uint256[])");
    bytes memory words = data;
    assembly {
      let at := add(words, 32) let size := mload(words)
      log0(at, size) log1(at, size, transfer) log2(at, size, transfer, a) log3(at, size, transfer, a, b) log4(at, size, transfer, a, b, c)
      log1(at, size, single) log3(at, size, single, a, b) log4(at, size, single, a, b, c) log4(at, size, batch, a, b, c) log2(at, size, batch, a)
    }
  }
}`;

/** Compiles the contracts (about 400 ms). */
export function compileTokenContracts() {
  return compileSource(SOURCE, ["Deeds", "Stamps", "Impostor"], "cancun");
}
