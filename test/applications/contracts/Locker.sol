// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

/// Locks tokens, shares of pools among them, until a time that may be moved later and never earlier. Nobody has a key to a
/// lock but its owner, and no owner before its time.
contract Locker is ReentrancyGuard {
    using SafeERC20 for IERC20;

    struct Lock {
        IERC20 token;
        address owner;
        uint256 amount;
        uint256 unlocksAt;
    }

    uint256 public immutable minimumSeconds;
    Lock[] public locks;

    event Locked(uint256 indexed id, IERC20 indexed token, address indexed owner, uint256 amount, uint256 unlocksAt);
    event Extended(uint256 indexed id, uint256 unlocksAt);
    event Unlocked(uint256 indexed id, IERC20 indexed token, address indexed owner, uint256 amount);

    error NoLock(uint256 id);
    error NotOwner(uint256 id, address caller);
    error ZeroAmount();
    error TooEarly(uint256 unlocksAt, uint256 earliest);
    error StillLocked(uint256 unlocksAt);

    constructor(uint256 minimumSeconds_) {
        minimumSeconds = minimumSeconds_;
    }

    /// Locks what arrives here, which is less than `amount` for tokens that keep a part of each transfer.
    function lock(IERC20 token, uint256 amount, uint256 unlocksAt) external nonReentrant returns (uint256 id) {
        uint256 earliest = block.timestamp + minimumSeconds;
        if (unlocksAt < earliest) revert TooEarly(unlocksAt, earliest);
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received == 0) revert ZeroAmount();
        id = locks.length;
        locks.push(Lock(token, msg.sender, received, unlocksAt));
        emit Locked(id, token, msg.sender, received, unlocksAt);
    }

    function extend(uint256 id, uint256 unlocksAt) external {
        Lock storage held = _own(id);
        if (unlocksAt <= held.unlocksAt) revert TooEarly(unlocksAt, held.unlocksAt + 1);
        held.unlocksAt = unlocksAt;
        emit Extended(id, unlocksAt);
    }

    function unlock(uint256 id) external nonReentrant {
        Lock storage held = _own(id);
        if (block.timestamp < held.unlocksAt) revert StillLocked(held.unlocksAt);
        (IERC20 token, uint256 amount) = (held.token, held.amount);
        delete locks[id];
        emit Unlocked(id, token, msg.sender, amount);
        token.safeTransfer(msg.sender, amount);
    }

    function _own(uint256 id) private view returns (Lock storage held) {
        if (id >= locks.length || locks[id].owner == address(0)) revert NoLock(id);
        held = locks[id];
        if (held.owner != msg.sender) revert NotOwner(id, msg.sender);
    }
}
