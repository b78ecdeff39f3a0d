import { compileSource } from "../../../test/contracts/compile.ts";

/** Typical contract work: an exchange of two tokens by constant product, and loops of one operation. */
const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Token {
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  event Transfer(address indexed from, address indexed to, uint256 value);
  constructor(address holder, address spender) {
    balanceOf[holder] = 1e30;
    balanceOf[spender] = 1e24;
    allowance[holder][spender] = 1e30;
  }
  function transfer(address to, uint256 value) external returns (bool) {
    balanceOf[msg.sender] -= value;
    balanceOf[to] += value;
    emit Transfer(msg.sender, to, value);
    return true;
  }
  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    allowance[from][msg.sender] -= value;
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
    return true;
  }
}
contract Pair {
  Token public immutable first;
  Token public immutable second;
  uint112 private firstReserve = 1e24;
  uint112 private secondReserve = 1e24;
  uint256 private unlocked = 1;
  event Swap(address indexed sender, uint256 amountIn, uint256 amountOut, address indexed to);
  event Sync(uint112 firstReserve, uint112 secondReserve);
  constructor(address holder) {
    first = new Token(holder, address(this));
    second = new Token(holder, address(this));
  }
  function swap(uint256 amountIn, uint256 least, address to) external returns (uint256 amountOut) {
    require(unlocked == 1, "locked");
    unlocked = 2;
    (uint256 a, uint256 b) = (firstReserve, secondReserve);
    uint256 paid = amountIn * 997;
    amountOut = (paid * b) / (a * 1000 + paid);
    require(amountOut >= least, "too little");
    require(first.transferFrom(msg.sender, address(this), amountIn), "not paid");
    require(second.transfer(to, amountOut), "not delivered");
    uint256 newFirst = first.balanceOf(address(this));
    uint256 newSecond = second.balanceOf(address(this));
    require((newFirst * 1000 - amountIn * 3) * newSecond * 1000 >= a * b * 1e6, "product");
    (firstReserve, secondReserve) = (uint112(newFirst), uint112(newSecond));
    emit Swap(msg.sender, amountIn, amountOut, to);
    emit Sync(firstReserve, secondReserve);
    unlocked = 1;
  }
}
contract Loops {
  mapping(uint256 => uint256) private slots;
  function hashes(uint256 times) external pure returns (bytes32 x) {
    for (uint256 i = 0; i < times; i++) x = keccak256(abi.encode(x, i));
  }
  function sums(uint256 times) external pure returns (uint256 x) {
    unchecked { for (uint256 i = 0; i < times; i++) x = (x * 31 + i) ^ (x >> 3); }
  }
  function writes(uint256 times) external {
    for (uint256 i = 0; i < times; i++) slots[i] = i + 1;
  }
  function recoveries(uint256 times) external view returns (address x) {
    for (uint256 i = 0; i < times; i++) x = ecrecover(bytes32(i), 27, bytes32(uint256(7)), bytes32(uint256(9)));
  }
  function pairings(uint256 times) external view {
    bytes memory none = new bytes(192);
    for (uint256 i = 0; i < times; i++) {
      (bool done,) = address(8).staticcall(none);
      require(done, "pairing");
    }
  }
}`;

/** All of them, compiled with the optimiser on, for Cancun. */
export const CONTRACTS = compileSource(SOURCE, ["Token", "Pair", "Loops"], "cancun");
