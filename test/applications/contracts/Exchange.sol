// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Pool} from "./Pool.sol";

/// Creates pools, one for each pair of tokens, at addresses that follow from the pair (CREATE2).
contract Exchange {
    mapping(address token => mapping(address other => Pool)) public poolOf;
    Pool[] public pools;

    event PoolCreated(address indexed token0, address indexed token1, Pool pool, uint256 count);

    error InvalidPair(address token, address other);
    error PoolExists(Pool pool);

    function createPool(address token, address other) external returns (Pool pool) {
        if (token == other || token == address(0) || other == address(0)) revert InvalidPair(token, other);
        if (address(poolOf[token][other]) != address(0)) revert PoolExists(poolOf[token][other]);
        (address token0, address token1) = token < other ? (token, other) : (other, token);
        pool = new Pool{salt: keccak256(abi.encode(token0, token1))}(IERC20(token0), IERC20(token1));
        (poolOf[token0][token1], poolOf[token1][token0]) = (pool, pool);
        pools.push(pool);
        emit PoolCreated(token0, token1, pool, pools.length);
    }
}
