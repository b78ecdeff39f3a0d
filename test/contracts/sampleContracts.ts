import { compileSource } from "./compile.ts";

/**
 * Contracts for tests of explorers and tracers: tokens, every kind of inner call, caught errors, creations and
 * selfdestructs.
 */
const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Token {
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  uint256 public totalSupply;
  string public constant name = "Menagerie";
  string public constant symbol = "MNG";
  uint8 public constant decimals = 18;
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  error InsufficientBalance(uint256 have, uint256 want);
  constructor(uint256 supply) { totalSupply = supply; balanceOf[msg.sender] = supply; emit Transfer(address(0), msg.sender, supply); }
  function transfer(address to, uint256 value) external returns (bool) { move(msg.sender, to, value); return true; }
  function approve(address spender, uint256 value) external returns (bool) {
    allowance[msg.sender][spender] = value; emit Approval(msg.sender, spender, value); return true;
  }
  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    allowance[from][msg.sender] -= value; move(from, to, value); return true;
  }
  function move(address from, address to, uint256 value) private {
    if (balanceOf[from] < value) revert InsufficientBalance(balanceOf[from], value);
    balanceOf[from] -= value; balanceOf[to] += value; emit Transfer(from, to, value);
  }
}
contract Child {
  uint256 public value;
  constructor(uint256 first) payable { value = first; }
  function die(address payable heir) external { selfdestruct(heir); }
  function refuse() external pure { revert("the child refuses"); }
  function set(uint256 next) external payable { value = next; }
  receive() external payable {}
}
contract Zoo {
  uint256 public value;
  mapping(uint256 => uint256) public slots;
  address public keeper = msg.sender;
  Child public last;
  event Nothing() anonymous;
  event Born(address indexed child, uint256 indexed kind, bytes32 indexed salt, string words);
  event Caught(string reason);
  event Seen(bytes answer);
  error Closed(address who, uint256[] times);
  constructor() payable {}
  function breed(uint256 first) external payable { last = new Child{value: msg.value}(first); emit Born(address(last), first, 0, "new"); }
  function breedAt(bytes32 salt, uint256 first) external {
    last = new Child{salt: salt}(first); emit Born(address(last), first, salt, "a longer word than fits in one slot of thirty-two bytes");
  }
  function breedAndBury(address payable heir) external payable { Child c = new Child{value: msg.value}(1); c.die(heir); emit Nothing(); }
  function kill(Child c, address payable heir) external { c.die(heir); }
  function endure(Child c) external { try c.refuse() {} catch Error(string memory reason) { emit Caught(reason); } }
  function provoke(Child c) external view { c.refuse(); }
  function lend(Child c, uint256 next) external {
    (bool ok,) = address(c).delegatecall(abi.encodeCall(Child.set, (next))); require(ok);
    (ok,) = address(c).staticcall(abi.encodeCall(Child.set, (next))); require(!ok);
    (ok,) = address(c).call{value: 1}(abi.encodeCall(Child.set, (next + 1))); require(ok);
  }
  function write(uint256 slot, uint256 next) external { slots[slot] = next; }
  function rewrite(uint256 slot) external { slots[slot] = 5; slots[slot] = 0; slots[slot] = 7; slots[slot] = 0; }
  function hash(bytes calldata words) external {
    bytes32 h = sha256(words); address a = ecrecover(h, 27, h, h); emit Seen(abi.encode(h, a, ripemd160(words)));
  }
  function transient(uint256 next) external { uint256 got; assembly { tstore(1, next) got := tload(1) } value = got; }
  function close() external view { uint256[] memory h = new uint256[](2); h[1] = block.chainid; revert Closed(msg.sender, h); }
  function silent() external pure { assembly { revert(0, 0) } }
  function broken() external pure { assembly { invalid() } }
  function divide(uint256 by) external pure returns (uint256) { return 100 / by; }
  function surroundings() external view returns (uint256, uint256, uint256, uint256, uint256, address, uint256, address) {
    return (block.number, block.timestamp, block.chainid, block.basefee, block.gaslimit, block.coinbase, tx.gasprice, tx.origin);
  }
  function recurse(uint256 depth) external { slots[depth] = depth; if (depth > 0) this.recurse(depth - 1); }
  function spend() external { while (true) { value += 1; } }
  receive() external payable {}
}`;

/** Compiles the contracts (about 400 ms). */
export function compileSampleContracts() {
  return compileSource(SOURCE, ["Token", "Child", "Zoo"], "cancun");
}
