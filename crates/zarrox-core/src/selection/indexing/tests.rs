//! Tests that compare selections with NumPy's results and with loops written from its documentation, and tests of limits.

mod golden;
mod oracle;
mod random;

use crate::scratch::Positions;

use super::*;
use crate::grid::ChunkGrid;
use crate::s;

#[test]
fn the_macro_and_the_parser_agree() {
    let pairs = [
        (s![], ""),
        (s![..], ":"),
        (s![-1, .., 2..5], "-1, :, 2:5"),
        (s![..;-1, ..., 3], "[::-1, ..., 3]"),
        (s![1..;2, ..4;3], "1::2, :4:3,"),
        (s![0..=3], "0:4"),
        (s![-3..=-1], "-3:"),
        (s![5_u64, 1_usize..2_usize], "5,1:2"),
        (s![NewAxis, 1, NewAxis], "None, 1, newaxis"),
        (s![[0, 2], 1..5], "[0, 2], 1:5"),
        (s![[0, 2], 1..5], "[[0,2],1:5]"),
        (s![[0, 2], [1, 3]], "[0, 2], [1, 3]"),
        (s![[0, 2]], "[0, 2],"),
        (s![[0, 2]], "[[0, 2]]"),
        (s![0, 2], "[0, 2]"),
        (s![[[0, 1], [2, 3]]], "[[0, 1], [2, 3]],"),
        (s![[true, false], ..], "[True, false], :"),
        (s![[[true], [false]]], "[[[True], [False]]]"),
        (s![Vec::<i64>::new()], "[],"),
        (s![ndarray::Array2::<i32>::zeros((2, 0))], "[[], []],"),
        (s![[[[-1]]].concat().concat()], "[ -1, ],"),
    ];
    for (selection, text) in pairs {
        assert_eq!(selection, text.parse().unwrap(), "{text}");
        assert_eq!(selection, selection.to_string().parse().unwrap(), "{selection}");
    }
}

#[test]
fn the_parser_names_what_is_wrong() {
    let message = |text: &str| text.parse::<Selection>().unwrap_err().to_string();
    assert!(message("0, 1.5").starts_with("'1.5' in item 1 of the selection is not an integer"));
    assert!(message("[0, 1.5], 2").starts_with("'1.5' in item 0 of the selection is not an integer"));
    assert!(message("1:2:3:4").contains("more than two colons"));
    assert!(message(":, [0, [1]]").contains("item 1 of the selection has rows of different lengths"));
    assert!(message("[[0, 1], [2]],").contains("rows of different lengths"));
    assert!(message("[0, True],").contains("mixes integers and truth values"));
    assert!(message(&"[".repeat(100_000)).contains("nested too deeply"));
    assert!(message(&format!("[{}", "0,".repeat(9))).contains("no closing bracket"));
    for bad in [
        "1.5", "a", "1,,2", "[1", "0x1", "1]", "[1]]", "[1] 2,", "[[1] 2],", "[1]:3", "[,]", "[1,,2],", "[é",
        "..", "][",
    ] {
        assert!(bad.parse::<Selection>().is_err(), "{bad}");
    }
}

#[test]
fn ellipsis_and_trailing_dimensions_are_whole() {
    let shape = [2, 3, 4, 5];
    assert_eq!(s![0, ..., 1].resolve(&shape).unwrap().shape(), [3, 4]);
    assert_eq!(s![...].resolve(&shape).unwrap().shape(), shape);
    assert_eq!(s![1].resolve(&shape).unwrap().shape(), [3, 4, 5]);
    assert_eq!(s![0, 0, 0, ..., 0].resolve(&shape).unwrap().shape(), [] as [u64; 0]);
    assert_eq!(s![...].resolve(&[]).unwrap().shape(), [] as [u64; 0]);
    assert_eq!((..).into_selection().resolve(&[]).unwrap().shape(), [] as [u64; 0]);
}

#[test]
fn errors_name_the_axis_and_the_value() {
    let message = |selection: Selection| selection.resolve(&[4, 5]).unwrap_err().to_string();
    let outside = "index 5 is out of bounds for axis 1 with size 5";
    assert_eq!(message(s![0, 5]), outside);
    assert_eq!(message(s![-5]), "index -5 is out of bounds for axis 0 with size 4");
    assert_eq!(message(s![[0, 1, 3], [1, 5, 7]]), outside);
    assert_eq!(message(s![[0, 1, 0], 5]), outside);
    assert_eq!(message(Selection::orthogonal(s![0, [4, 5, 6, 7]])), outside);
    assert_eq!(message(Selection::coordinates(([[0], [1]], [4, 5]))), outside);
    assert_eq!(message(s![i64::MIN]), format!("index {} is out of bounds for axis 0 with size 4", i64::MIN));
    assert_eq!(
        message(s![[3, i64::MIN, 2]]),
        format!("index {} is out of bounds for axis 0 with size 4", i64::MIN)
    );
    assert_eq!(
        message(s![vec![u64::MAX]]),
        format!("index {} is out of bounds for axis 0 with size 4", i64::MAX)
    );
    assert_eq!(message(s![0, 0, 0]), "the selection has 3 dimensions, but the array has 2 (shape [4, 5])");
    assert!(message(s![..., ...]).contains("one ellipsis"));
    assert_eq!(message(s![.., ..;0]), "the slice step of axis 1 cannot be zero");
    assert_eq!(
        message(s![[0, 1], [0, 1, 2]]),
        "the index arrays cannot be broadcast together: their shapes are [2], [3]"
    );
    let short = "the mask has a length of 3 along axis 1, but the array's size is 5";
    assert_eq!(message(s![.., [true, false, true]]), short);
    assert_eq!(message(Selection::orthogonal(s![0, [true, false, true]])), short);
    assert_eq!(message(Selection::mask([[true; 3]; 4])), short);
    assert_eq!(message(Selection::coordinates([[true; 3]; 4])), short);
    assert_eq!(
        message(Selection::mask([true; 4])),
        "the mask has the shape [4], but the array has the shape [4, 5]"
    );
    assert_eq!(
        message(Selection::coordinates([0, 1])),
        "coordinates are given for 1 dimensions, but the array has 2 (shape [4, 5])"
    );
    assert!(message(Selection::coordinates((0, ..))).starts_with("item 1 of the coordinates is :;"));
    assert!(message(Selection::coordinates((0, 1, 2, ..))).starts_with("item 3 of the coordinates is :;"));
    assert!(
        message(Selection::orthogonal((0, [[0, 1]]))).contains("the one for axis 1 has the shape [1, 2]")
    );
    assert!(message(Selection::blocks(0)).contains("chunk grid"));
}

#[test]
fn arrays_know_their_shapes() {
    let array = ndarray::arr2(&[[0_u16, 1], [2, 3]]);
    let expected = IndexArray::new([2, 2], vec![0, 1, 2, 3]).unwrap();
    assert_eq!(s![&array], s![&expected]);
    assert_eq!(s![array.t().t()], s![expected]);
    assert_eq!(IndexArray::from(array.t()).values().as_slice(), [0, 2, 1, 3]);
    assert_eq!(IndexArray::new([2, 2], vec![0]).unwrap_err().kind(), crate::ErrorKind::InvalidSelection);
    assert_eq!(
        IndexArray::new([usize::MAX, 2], vec![0]).unwrap_err().kind(),
        crate::ErrorKind::InvalidSelection
    );
    assert!(Mask::new([usize::MAX, 0], vec![]).is_ok());
    assert_eq!(
        Mask::from(ndarray::arr2(&[[true, false], [true, true]])).nonzero().unwrap()[..],
        [vec![0, 1, 1], vec![0, 0, 1]].map(Positions::from)
    );
    let values = vec![3_i64, 1];
    let place = values.as_ptr();
    assert_eq!(IndexArray::from(values).values().as_ptr(), place, "taken over without a copy");
    let rows: &[usize] = &[1, 2];
    assert_eq!((rows, 2..5, &[0, 1]).into_selection(), s![&rows.to_vec(), 2..5, [0, 1]]);
}

#[test]
fn one_item_is_a_selection() {
    let rows = vec![3_usize, 1, 2];
    let column = ndarray::arr1(&[0_i64, 1]);
    assert_eq!(Selection::orthogonal(5), Selection::orthogonal(s![5]));
    assert_eq!(Selection::orthogonal(1..3), Selection::orthogonal((1..3,)));
    assert_eq!(Selection::coordinates(&rows), Selection::coordinates(s![[3, 1, 2]]));
    assert_eq!(Selection::coordinates((&rows, column.view())), Selection::coordinates(s![[3, 1, 2], [0, 1]]));
    assert_eq!((&column).into_selection(), s![[0, 1]]);
    assert_eq!([true, false].into_selection(), s![[true, false]]);
    assert_eq!(NewAxis.into_selection(), s![NewAxis]);
    assert_eq!(Selection::new([0..2, 3..5]), s![0..2, 3..5]);
    assert_eq!(DimSelection::ALL.into_selection(), s![..]);
    assert_eq!(Selection::blocks((0, .., 1..)).to_string(), "blocks[0, :, 1:]");
    assert_eq!(
        s![..].resolve(&[3]).unwrap().select(&Selection::blocks(0)).unwrap_err().kind(),
        crate::ErrorKind::InvalidSelection
    );
}

#[test]
fn indices_outside_are_errors_also_where_nothing_is_selected() {
    // NumPy accepts out-of-bounds indices if they are broadcast with an empty array.
    assert_eq!(s![[7], [0_i64; 0]].resolve(&[3, 3]).unwrap_err().kind(), crate::ErrorKind::InvalidSelection);
    assert!(s![[0_i64; 0], [1]].resolve(&[3, 3]).unwrap().is_empty());
    assert_eq!(s![0..0, [3]].resolve(&[3, 3]).unwrap_err().kind(), crate::ErrorKind::InvalidSelection);
}

#[test]
fn long_arrays_are_shortened_when_displayed() {
    let long = s![(0..1000).collect::<Vec<i32>>(), 3];
    assert_eq!(long.to_string(), "[0, 1, 2, ..., 997, 998, 999], 3");
    assert_eq!(Selection::mask([[true, false]]).to_string(), "mask[[[True, False]]]");
    assert_eq!(Selection::orthogonal(([0, 1], 1..)).to_string(), "oindex[[0, 1], 1:]");
}

#[test]
fn bounds_and_steps_beyond_every_array_are_those_of_numpy() {
    let span = |start, step, count, reversed| {
        ResolvedAxis::Span(ResolvedSpan { dim: 0, start, step, count, reversed })
    };
    let (none, all) = (span(0, 1, 0, false), span(0, 1, 10, false));
    // `numpy.arange(10)[…]`
    let answers = [
        ("9223372036854775807:", none.clone()),
        ("9223372036854775808:", none.clone()),
        (":-9223372036854775808", none.clone()),
        (":-99999999999999999999", none.clone()),
        ("-9223372036854775808::-1", none.clone()),
        (":9223372036854775807:-1", none),
        ("-9223372036854775809:9223372036854775808", all),
        ("99999999999999999999:-99999999999999999999:-1", span(0, 1, 10, true)),
        ("3::9223372036854775808", span(3, 1, 1, false)),
        ("3::-9223372036854775809", span(3, 1, 1, false)),
        ("3::-9223372036854775808", span(3, 1, 1, false)),
    ];
    for (text, answer) in answers {
        assert_eq!(axis(&text.parse().unwrap()), answer, "{text}");
    }
    let error = "9223372036854775808".parse::<Selection>().unwrap_err().to_string();
    assert!(error.contains("outside of every array"), "{error}");
    for kind in [Selection::orthogonal, Selection::coordinates, |s: Selection| s] {
        for far in [i64::MAX, i64::MIN] {
            let error = kind(s![far]).resolve(&[10]).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::InvalidSelection, "{error}");
        }
    }
}

/// Returns the single axis to which a selection from ten elements resolves.
fn axis(selection: &Selection) -> ResolvedAxis {
    let [axis] = selection.resolve(&[10]).unwrap().axes.try_into().unwrap();
    axis
}

#[test]
fn what_is_evenly_spaced_is_a_span() {
    let span = |start, step, count, reversed| {
        ResolvedAxis::Span(ResolvedSpan { dim: 0, start, step, count, reversed })
    };
    let mask = |chosen: &[usize]| (0..10).map(|at| chosen.contains(&at)).collect::<Vec<bool>>();
    for kind in [Selection::orthogonal, Selection::coordinates, |s: Selection| s] {
        assert_eq!(axis(&kind(s![[1, 3, 5]])), span(1, 2, 3, false));
        assert_eq!(axis(&kind(s![[-1, -4]])), span(6, 3, 2, true));
        assert_eq!(axis(&kind(s![[-1, 0]])), span(0, 9, 2, true));
        assert_eq!(axis(&kind(s![[4]])), span(4, 1, 1, false));
        assert_eq!(axis(&kind(s![[0_i64; 0]])), span(0, 1, 0, false));
        assert!(matches!(axis(&kind(s![[1, 3, 4]])), ResolvedAxis::Points(_)));
        assert!(matches!(axis(&kind(s![[1, 1]])), ResolvedAxis::Points(_)));
        assert_eq!(axis(&kind(s![mask(&[2, 3, 4])])), span(2, 1, 3, false));
        assert_eq!(axis(&kind(s![mask(&[2, 5, 8])])), span(2, 3, 3, false));
        assert_eq!(axis(&kind(s![mask(&[7])])), span(7, 1, 1, false));
        assert_eq!(axis(&kind(s![mask(&[])])), span(0, 1, 0, false));
        assert!(matches!(axis(&kind(s![mask(&[2, 5, 9])])), ResolvedAxis::Points(_)));
    }
}

#[test]
fn long_lists_are_seen_through_to_their_ends() {
    for length in [1023_usize, 1024, 1025, 5000] {
        for odd in [0, 1, 2, length / 2, length - 2, length - 1] {
            let mut list: Vec<usize> = (0..length).map(|at| 3 * at + 1).collect();
            list[odd] += 1;
            let resolved = s![&list].resolve(&[20_000]).unwrap();
            assert!(
                matches!(&resolved.axes[0], ResolvedAxis::Points(points) if **points.coordinates[0] == list)
            );
            list[odd] -= 1;
            let resolved = s![&list].resolve(&[20_000]).unwrap();
            assert!(matches!(&resolved.axes[0], ResolvedAxis::Span(span) if span.count == length as u64));
        }
    }
    // Distances that wrap are not evenly spaced.
    assert_eq!(s![[0, i64::MAX, -2]].resolve(&[5]).unwrap_err().kind(), crate::ErrorKind::InvalidSelection);
    assert_eq!(s![[0, i64::MAX - 1]].resolve(&[i64::MAX.cast_unsigned()]).unwrap().shape(), [2]);
}

#[test]
fn arrays_that_vary_along_different_axes_are_not_multiplied() {
    let rows =
        ndarray::Array1::from_iter((0..1_000_000_u64).map(|n| n * n % 1009)).insert_axis(ndarray::Axis(1));
    let columns =
        ndarray::Array1::from_iter((0..1_000_000_u64).map(|n| n * 7 % 1013)).insert_axis(ndarray::Axis(0));
    let resolved = s![&rows, &columns].resolve(&[1009, 1013]).unwrap();
    assert_eq!(resolved.shape(), [1_000_000, 1_000_000]);
    assert_eq!(resolved.axes.len(), 2);
}

#[test]
fn more_points_than_memory_can_hold_are_an_error() {
    let resolved = Selection::coordinates((vec![0, 1, 1], vec![2, 1, 1])).resolve(&[5, 5]).unwrap();
    let resolved = resolved.select(&s![vec![0; 1_000_000]]).unwrap();
    assert_eq!(resolved.shape(), [1_000_000]);
    let wide = s![[[0, 1], [1, 0]], [[0, 1], [0, 0]]].resolve(&[2, 2]).unwrap();
    let many = vec![0; 4_000_000];
    let error = wide.select(&Selection::orthogonal((&many, &many))).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::OutOfMemory);
}

#[test]
fn blocks_are_slices() {
    let shape = [25, 7];
    let grid = ChunkGrid::regular([10, 3], &shape).unwrap();
    let slices = |selection: &Selection| selection.on_grid(&grid, &shape).map(|s| s.to_string());
    let blocks = |text: &str| slices(&Selection::blocks(text.parse::<Selection>().unwrap()));
    assert_eq!(blocks("0").unwrap(), "0:10");
    assert_eq!(blocks("-1, -3").unwrap(), "20:25, 0:3");
    assert_eq!(blocks("1:, :2").unwrap(), "10:25, 0:6");
    assert_eq!(blocks("..., 2").unwrap(), "..., 6:7");
    assert_eq!(blocks("5:9, -9:-1").unwrap(), "0:0, 0:6");
    assert_eq!(slices(&s![1, ..;2]).unwrap(), "1, ::2", "selections other than blocks are unchanged");
    let message = |text: &str| blocks(text).unwrap_err().to_string();
    assert_eq!(message("0, 3"), "block 3 is out of bounds for axis 1 with 3 blocks");
    assert_eq!(message("-4"), "block -4 is out of bounds for axis 0 with 3 blocks");
    assert!(message("::2").contains("axis 0 are selected with ::2"));
    assert!(message("0, [0, 1]").contains("axis 1 are selected with [0, 1]"));
    assert!(message("0, 0, 0").contains("3 dimensions"));
    assert!(message("..., 0, ...").contains("one ellipsis"));

    let uneven = ChunkGrid::rectilinear([vec![5_u64, 5, 15], vec![1, 9]], &shape).unwrap();
    let blocks = |text: &str| {
        let selection = Selection::blocks(text.parse::<Selection>().unwrap());
        selection.on_grid(&uneven, &shape).map(|s| s.to_string())
    };
    assert_eq!(blocks("1:3, -1").unwrap(), "5:25, 1:7");
    assert_eq!(blocks("0, 0").unwrap(), "0:5, 0:1");
    assert_eq!(blocks("3").unwrap_err().to_string(), "block 3 is out of bounds for axis 0 with 3 blocks");
}

#[test]
fn axes_without_a_second_selection_are_unchanged() {
    let mask = ndarray::Array2::from_shape_fn((4, 5), |(y, x)| (x + y) % 3 == 0);
    let first = s![.., &mask, [5, 0, 1]].resolve(&[3, 4, 5, 6]).unwrap_err();
    assert!(first.to_string().contains("broadcast"), "{first}");
    let first = s![.., &mask, ..].resolve(&[3, 4, 5, 6]).unwrap();
    assert!(matches!(first.axes[1], ResolvedAxis::Mask(_)));
    let second = first.select(&s![1, .., ..;-2]).unwrap();
    assert_eq!(second.axes[1], first.axes[1]);
    assert_eq!(first.select(&Selection::all()).unwrap(), first);
    let slices = s![2.., ..;-1].resolve(&[10, 10]).unwrap().select(&s![..;3, 2..8;2]).unwrap();
    let span = |dim, start, step, count, reversed| {
        ResolvedAxis::Span(ResolvedSpan { dim, start, step, count, reversed })
    };
    assert_eq!(slices.axes, [span(0, 2, 3, 3, false), span(1, 3, 2, 3, true)]);
}
