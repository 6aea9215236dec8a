import unittest
from unittest import mock

import shapes


class AreaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = []

    def setUp(self):
        self.made.append(1)
        self.addCleanup(self.made.pop)

    def test_area(self):
        self.assertEqual(shapes.area(2, 3), 6)
        self.assertAlmostEqual(0.1 + 0.2, 0.3)
        self.assertIn("a", "abc")
        self.assertIsNone(None)

    def test_negative(self):
        with self.assertRaisesRegex(ValueError, "neg"):
            shapes.area(-1, 1)

    def test_subtests(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertGreaterEqual(n, 0)

    @unittest.skip("not now")
    def test_skipped(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(1, 2)

    def test_mock(self):
        with mock.patch("shapes.area", return_value=9) as fake:
            self.assertEqual(shapes.area(1, 1), 9)
        fake.assert_called_once_with(1, 1)
        m = mock.MagicMock(side_effect=[1, KeyError])
        self.assertEqual(m(), 1)
        self.assertRaises(KeyError, m)


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_async(self):
        self.assertTrue(True)


if __name__ == "__main__":
    unittest.main()
