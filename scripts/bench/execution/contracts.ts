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
  function divisions(uint256 times) external pure returns (uint256 x) {
    x = type(uint256).max / 3;
    unchecked {
      for (uint256 i = 0; i < times; i++)
        x = ((type(uint256).max - x * i) / (0x10000000100000003 * i + 7)) ^ ((x * 0x9e3779b97f4a7c15f39cc060) % (x >> 90 | 1));
    }
  }
  function powers(uint256 times) external pure returns (uint256 x) {
    unchecked { for (uint256 i = 0; i < times; i++) x = (x | 3) ** (0xf0f1f2f3f4f5f6f7f8f9fafbfcfdfeff - i); }
  }
  function permutations(uint256 times) external pure returns (uint256 a) {
    uint256 p = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    uint256 b = 1;
    uint256 c = 2;
    unchecked {
      for (uint256 i = 0; i < times * 65; i++) {
        a = addmod(a, i * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95, p);
        b = addmod(b, i * 0xc2b2ae3d27d4eb4f165667b19e3779f9165667b19e3779b97f4a7c15f39cc060, p);
        c = addmod(c, i, p);
        uint256 square = mulmod(a, a, p);
        a = mulmod(a, mulmod(square, square, p), p);
        uint256 sum = addmod(addmod(a, b, p), c, p);
        (a, b, c) = (
          addmod(sum, mulmod(a, 0x109b7f411ba0e4c9b2b70caf5c36a7b194be7c11ad24378bfedb68592ba8118b, p), p),
          addmod(sum, mulmod(b, 0x16ed41e13bb9c0c66ae119424fddbcbc9314dc9fdbdeea55d6c64543dc4903e0, p), p),
          addmod(sum, mulmod(c, 0x2b90bba00fca0589f617e7dcbfe82e0df706ab640ceb247b791a93b74e36736d, p), p)
        );
      }
    }
  }
  function doublings(uint256 times) external pure returns (uint256 x, uint256 y, uint256 z) {
    uint256 p = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f;
    x = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798;
    y = 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8;
    z = 1;
    unchecked {
      for (uint256 i = 0; i < times; i++) {
        uint256 square = mulmod(y, y, p);
        uint256 s = mulmod(4, mulmod(x, square, p), p);
        uint256 m = mulmod(3, mulmod(x, x, p), p);
        z = mulmod(2, mulmod(y, z, p), p);
        x = addmod(mulmod(m, m, p), p - addmod(s, s, p), p);
        y = addmod(mulmod(m, addmod(s, p - x, p), p), p - mulmod(8, mulmod(square, square, p), p), p);
      }
    }
  }
  function transfers(Token token, address to, uint256 times) external {
    for (uint256 i = 0; i < times; i++) token.transfer(to, 1);
  }
  function balances(Token token, address holder, uint256 times) external view returns (uint256 sum) {
    for (uint256 i = 0; i < times; i++) sum += token.balanceOf(holder);
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
