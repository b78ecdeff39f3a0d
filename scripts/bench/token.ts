import { type CompiledContract, compileContract } from "../../test/contracts/compile.ts";

/** A plain ERC-20: balances and allowances in mappings, Transfer and Approval events, checked arithmetic. */
export const TOKEN_SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;
contract Token {
  string public constant name = "Bench Token";
  string public constant symbol = "BENCH";
  uint8 public constant decimals = 18;
  uint256 public totalSupply;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  constructor(address[] memory holders, uint256 each) {
    for (uint256 i = 0; i < holders.length; i++) {
      balanceOf[holders[i]] = each;
      totalSupply += each;
      emit Transfer(address(0), holders[i], each);
    }
  }
  function transfer(address to, uint256 value) external returns (bool) {
    require(to != address(0), "transfer to the zero address");
    require(balanceOf[msg.sender] >= value, "balance too low");
    balanceOf[msg.sender] -= value;
    balanceOf[to] += value;
    emit Transfer(msg.sender, to, value);
    return true;
  }
  function approve(address spender, uint256 value) external returns (bool) {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
    return true;
  }
  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    uint256 allowed = allowance[from][msg.sender];
    require(allowed >= value, "allowance too low");
    require(balanceOf[from] >= value, "balance too low");
    allowance[from][msg.sender] = allowed - value;
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
    return true;
  }
}`;

/** Compiled for Paris, which every chain here supports. */
export function compileToken(): CompiledContract {
  return compileContract(TOKEN_SOURCE, "Token", "paris");
}
